"""The colours, lines and markers of methods, for figures and for a light and a dark page."""

from collections.abc import Collection, Mapping
from typing import NamedTuple


class Style(NamedTuple):
    """The look of a method: its colour on a light and on a dark page, the dashes of its line, and its marker."""

    light: str
    dark: str
    dash: str = ""
    marker: str = "."

    @property
    def line(self) -> object:
        """The dashes as Matplotlib takes them."""
        return (0, tuple(float(part) / 2 for part in self.dash.split())) if self.dash else "-"


# Hues at least 3:1 against the page in both themes; the dash tells lines apart without colour.
FURTHER = [  # for methods without a style, in the order of their names
    Style("#117733", "#6fd08c", "10 2 2 2"),
    Style("#8c510a", "#dfa766", "6 4"),
    Style("#1f6f8b", "#7fc8de", "4 4"),
    Style("#a3122e", "#ff8196", "2 2"),
]
DATASETS = list(zip(
    ("#0072b2", "#d55e00", "#008a65", "#c25c93", "#b07a00", "#5b3fa8", "#6b6b6b"),  # on a light page
    ("#56b4e9", "#ff8f45", "#3ccfa3", "#eda9cd", "#e6a93a", "#b7a3f5", "#a8a8a8"),  # on a dark one
    strict=True,
))  # fmt: skip


def styles(methods: Collection[str], settings: Mapping[str, Mapping]) -> dict[str, Style]:
    """Return the style of every method: as ``settings`` has it, or else a further one in turn."""
    others = [method for method in sorted(methods) if method not in settings]
    chosen = {method: FURTHER[place % len(FURTHER)] for place, method in enumerate(others)}
    return {method: chosen.get(method) or Style(**settings[method]) for method in methods}


def css(methods: Collection[str], datasets: Collection[str], settings: Mapping[str, Mapping]) -> str:
    """Return the colours as custom properties: ``--m-<method>`` and ``--d-<dataset>``, for both themes."""
    pairs = {f"--m-{name}": style[:2] for name, style in styles(methods, settings).items()}
    pairs |= {f"--d-{name}": DATASETS[place % len(DATASETS)] for place, name in enumerate(sorted(datasets))}
    light, dark = ("".join(f"{name}:{pair[theme]};" for name, pair in sorted(pairs.items())) for theme in (0, 1))
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
