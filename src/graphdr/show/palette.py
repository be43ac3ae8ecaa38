"""The one place that gives a method its colour and line style, for figures and for a light and a dark page."""

# Hues of Okabe and Ito, at least 3:1 against the page in both themes; the dash tells lines apart without colour.
METHODS = {
    "graphdr": ("#0072b2", "#56b4e9", ""),
    "linucb_full": ("#d55e00", "#ff8f45", "7 3"),
    "graphdr_shuffled": ("#008a65", "#3ccfa3", "8 3 2 3"),
    "pca_onehot": ("#c25c93", "#eda9cd", "2 3"),
    "jl": ("#bd8700", "#f0c050", "2 2 7 2"),
    "random": ("#6b6b6b", "#a8a8a8", "1 3"),
    "pca_content": ("#882255", "#d9659c", "11 3"),
    "pca_graph": ("#747400", "#cfcb5a", "4 2"),
    "pca_content_shuffled": ("#7a3e9d", "#c79be8", "8 3 2 3"),
    "pca_graph_shuffled": ("#8c510a", "#dfa766", "8 3 2 3"),
    "spectral_ucb": ("#24262b", "#f0eee8", "3 3"),
    "laplacian_linucb": ("#5b3fa8", "#b7a3f5", "9 2 2 2 2 2"),
    "laplacian_linucb_03": ("#8a6fd1", "#d9cffb", "3 2"),
    "laplacian_linucb_10": ("#33206e", "#957eea", "12 3"),
    "graphdr_k_naive": ("#7a3e9d", "#c79be8", "5 3"),
    "graphdr_k_bootstrap": ("#a8326e", "#f08cb8", "3 2"),
    "graphdr_adaptive": ("#a3122e", "#ff8196", ""),
    "graphdr_k_1": ("#117733", "#6fd08c", "1 3"),
    "graphdr_k_2": ("#8c510a", "#dfa766", "2 3"),
    "graphdr_k_3": ("#1f6f8b", "#7fc8de", "4 4"),
    "graphdr_k_5": ("#5b3fa8", "#b7a3f5", "6 3"),
    "graphdr_k_8": ("#747400", "#cfcb5a", "9 3"),
    "graphdr_k_12": ("#c25c93", "#eda9cd", "12 3"),
    "graphdr_k_20": ("#24262b", "#f0eee8", "3 3"),
    "graphdr_exact": ("#c25c93", "#eda9cd", "6 2"),
    "graphdr_generic": ("#d55e00", "#ff8f45", "7 3"),
    "graphdr_oracle": ("#332288", "#a79bf0", ""),
    "graphdr_estimated": ("#008a65", "#3ccfa3", "8 3 2 3"),
    "graphdr_uninflated": ("#bd8700", "#f0c050", "2 2 7 2"),
}
FURTHER = [  # for methods that others add, in the order of their names
    ("#117733", "#6fd08c", "10 2 2 2"),
    ("#8c510a", "#dfa766", "6 4"),
    ("#1f6f8b", "#7fc8de", "4 4"),
    ("#a3122e", "#ff8196", "2 2"),
]
DATASETS = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8f45"),
    ("#008a65", "#3ccfa3"),
    ("#c25c93", "#eda9cd"),
    ("#b07a00", "#e6a93a"),
    ("#5b3fa8", "#b7a3f5"),
    ("#6b6b6b", "#a8a8a8"),
]


def styles(methods: list[str]) -> dict[str, tuple[str, str, str]]:
    """Return (light, dark, dash) of every method; those without an entry take further ones in turn."""
    others = [method for method in sorted(methods) if method not in METHODS]
    further = {method: FURTHER[place % len(FURTHER)] for place, method in enumerate(others)}
    return {method: METHODS.get(method) or further[method] for method in methods}


def css(methods: list[str], datasets: list[str]) -> str:
    """Return the colours as custom properties: ``--m-<method>`` and ``--d-<dataset>``, for both themes."""
    pairs = {f"--m-{name}": style[:2] for name, style in styles(methods).items()}
    pairs |= {f"--d-{name}": DATASETS[place % len(DATASETS)] for place, name in enumerate(sorted(datasets))}
    light, dark = ("".join(f"{name}:{pair[theme]};" for name, pair in sorted(pairs.items())) for theme in (0, 1))
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
