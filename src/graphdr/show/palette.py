"""The colours, lines and markers of methods, for figures and for a light and a dark page."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple


class Style(NamedTuple):
    """The look of a method: its colour on a light and on a dark page, the dashes of its line, and its marker."""

    light: str
    dark: str
    dash: str = ""
    marker: str = "."

    @property
    def line(self) -> Any:
        """Return the dashes as Matplotlib takes them."""
        return (0, tuple(float(part) / 2 for part in self.dash.split())) if self.dash else "-"


# Contrast of at least 3:1 with the page in both themes; the dash tells lines apart without colour.
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


def styles(methods: Collection[str], settings: Mapping[str, Mapping[str, str]]) -> dict[str, Style]:
    """Return the style of every method: that of ``settings``, or else one of ``FURTHER`` in turn."""
    others = [method for method in sorted(methods) if method not in settings]
    further = {method: FURTHER[place % len(FURTHER)] for place, method in enumerate(others)}
    return {method: further.get(method) or Style(**settings[method]) for method in methods}


def css(methods: Collection[str], datasets: Collection[str], settings: Mapping[str, Mapping[str, str]]) -> str:
    """Return the colours as custom properties: ``--m-<method>`` and ``--d-<dataset>``, for both themes."""
    colours = {f"--m-{name}": (style.light, style.dark) for name, style in styles(methods, settings).items()}
    colours |= {f"--d-{name}": DATASETS[place % len(DATASETS)] for place, name in enumerate(sorted(datasets))}
    light = "".join(f"{name}:{colour};" for name, (colour, _) in sorted(colours.items()))
    dark = "".join(f"{name}:{colour};" for name, (_, colour) in sorted(colours.items()))
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
