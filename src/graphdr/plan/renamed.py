"""Names in the configuration that were renamed: the new name by the old one."""

METHOD_KEYS = {"beside": "second_basis", "in_noise": "noise_units"}
FACTORS = {
    "tuned": "settings_from",
    "given": "user_columns",
    "users": "holdout",
    "bundled": "bundle_sampling",
    "pool": "bundle_count",
    "segmented": "segment_by",
    "coupling": "segment_coupling",
    "differences": "segment_pattern",
    "differ": "segment_scale",
    "pilot_from": "pilot_source",
}
HOLDOUT = {"all": "none", "split": "users"}  # values of the factor `users`, now `holdout`
BASES = {
    "shuffled": "laplacian_low_shuffled",
    "length": "laplacian_low_random_directions",
    "given": "user_columns",
}
BASIS_SUFFIXES = {"_length": "_random_directions"}
EXPERIMENT_KEYS = {"stands_for": "varies"}
CLAIM_KEYS = {"beside": "alternatives", "pool": "min_problems"}
SIMULATED_PAPER_KEYS = {"stand_ins": "aliases"}
TOP_KEYS = {"pseudo_papers": "simulated_papers"}
KEYS = (METHOD_KEYS, FACTORS, EXPERIMENT_KEYS, CLAIM_KEYS, SIMULATED_PAPER_KEYS, TOP_KEYS)
