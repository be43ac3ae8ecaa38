"""The one place that gives a method its colours, line and marker, for figures and for a light and a dark page."""

from collections.abc import Collection, Mapping
from typing import NamedTuple


class Style(NamedTuple):
    """The look of a method: its colour on a light and on a dark page, the dashes of its line, and its marker."""

    light: str
    dark: str
    dash: str = ""
    marker: str = "."


# Hues of Okabe and Ito, at least 3:1 against the page in both themes; the dash tells lines apart without colour.
METHODS = {
    "graphdr": Style("#0072b2", "#56b4e9", "", "o"),
    "linucb_full": Style("#d55e00", "#ff8f45", "7 3", "s"),
    "graphdr_shuffled": Style("#008a65", "#3ccfa3", "8 3 2 3", "^"),
    "onehot_pca": Style("#c25c93", "#eda9cd", "2 3", "v"),
    "gaussian": Style("#bd8700", "#f0c050", "2 2 7 2", "D"),
    "random": Style("#6b6b6b", "#a8a8a8", "1 3", "x"),
    "content_pca": Style("#882255", "#d9659c", "11 3"),
    "graph_pca": Style("#747400", "#cfcb5a", "4 2"),
    "content_pca_shuffled": Style("#7a3e9d", "#c79be8", "8 3 2 3"),
    "graph_pca_shuffled": Style("#8c510a", "#dfa766", "8 3 2 3"),
    "spectral_ucb": Style("#24262b", "#f0eee8", "3 3"),
    "laplacian_linucb": Style("#5b3fa8", "#b7a3f5", "9 2 2 2 2 2"),
    "laplacian_linucb_03": Style("#8a6fd1", "#d9cffb", "3 2"),
    "laplacian_linucb_10": Style("#33206e", "#957eea", "12 3"),
    "graphdr_k_naive": Style("#7a3e9d", "#c79be8", "5 3"),
    "graphdr_k_bootstrap": Style("#a8326e", "#f08cb8", "3 2"),
    "graphdr_adaptive": Style("#a3122e", "#ff8196"),
    "graphdr_k_1": Style("#117733", "#6fd08c", "1 3"),
    "graphdr_k_2": Style("#8c510a", "#dfa766", "2 3"),
    "graphdr_k_3": Style("#1f6f8b", "#7fc8de", "4 4"),
    "graphdr_k_5": Style("#5b3fa8", "#b7a3f5", "6 3"),
    "graphdr_k_8": Style("#747400", "#cfcb5a", "9 3"),
    "graphdr_k_12": Style("#c25c93", "#eda9cd", "12 3"),
    "graphdr_k_20": Style("#24262b", "#f0eee8", "3 3"),
    "graphdr_exact": Style("#c25c93", "#eda9cd", "6 2", "v"),
    "graphdr_generic": Style("#d55e00", "#ff8f45", "7 3", "s"),
    "graphdr_oracle": Style("#332288", "#a79bf0", "", "o"),
    "graphdr_estimated": Style("#008a65", "#3ccfa3", "8 3 2 3", "^"),
    "graphdr_uninflated": Style("#bd8700", "#f0c050", "2 2 7 2", "D"),
}
FURTHER = [  # for methods without a style, in the order of their names
    Style("#117733", "#6fd08c", "10 2 2 2"),
    Style("#8c510a", "#dfa766", "6 4"),
    Style("#1f6f8b", "#7fc8de", "4 4"),
    Style("#a3122e", "#ff8196", "2 2"),
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


def styles(methods: Collection[str], settings: Mapping[str, Mapping] | None = None) -> dict[str, Style]:
    """Return the style of every method: as ``settings`` or this module has it, or else a further one in turn."""
    chosen = METHODS | {method: Style(**style) for method, style in (settings or {}).items()}
    others = [method for method in sorted(methods) if method not in chosen]
    chosen |= {method: FURTHER[place % len(FURTHER)] for place, method in enumerate(others)}
    return {method: chosen[method] for method in methods}


def css(methods: Collection[str], datasets: Collection[str], settings: Mapping[str, Mapping] | None = None) -> str:
    """Return the colours as custom properties: ``--m-<method>`` and ``--d-<dataset>``, for both themes."""
    pairs = {f"--m-{name}": style[:2] for name, style in styles(methods, settings).items()}
    pairs |= {f"--d-{name}": DATASETS[place % len(DATASETS)] for place, name in enumerate(sorted(datasets))}
    light, dark = ("".join(f"{name}:{pair[theme]};" for name, pair in sorted(pairs.items())) for theme in (0, 1))
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
