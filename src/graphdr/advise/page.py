"""Advice as one self-contained page in the style of the report, without scripts."""

from html import escape
from importlib.resources import files

from graphdr import __version__
from graphdr.advise import tables, wording
from graphdr.show import palette
from graphdr.show.report import template

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 24, 12, 40


def fill(found: dict) -> str:
    """Return the page; all texts of the user are escaped."""
    lead, *rest = found["answer"]
    methods, horizon = list(found["regret"]), found["setting"]["horizon"]
    graph, regret, compared, *others = (_table(*table) for table in tables.of(found))
    parts = {
        "style": template.style(palette.css(sorted(methods), [])),
        "title": escape(f"{found['label']}: does the graph help?"),
        "version": escape(__version__),
        "lead": escape(lead),
        "answer": "".join(f"<p>{escape(text)}</p>" for text in rest),
        "notes": "".join(f"<li>{escape(note)}</li>" for note in found["notes"]),
        "graph": graph,
        "regret": regret,
        "by_k": _chart(_by_k(found), "k", [*found["facts"]], found["labels"]),
        "curves": _chart(found["curves"], "round", [horizon // 2, horizon], found["labels"]),
        "compared": compared,
        "others": "".join(others),
        "log": _log(found),
        "words": "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}.</dd>" for word, text in wording.WORDS.items()),
        "paste": escape(found["paste"]),
        "block": escape(f"{found['folder']}/block.yaml"),
    }
    page = (files("graphdr.advise") / "page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        page = page.replace(f"<!-- {name} -->", text)
    return page


def _log(found: dict) -> str:
    """Return the section on the log, if one was given."""
    if not found["log"]:
        return ""
    shown = "".join(_table(*table) for table in tables.log(found))
    doubts = "".join(f"<li>{escape(text)}</li>" for text in found["log"]["warnings"])
    return f'<section><h2>By the log</h2><div class="below">{shown}</div><ul class="facts">{doubts}</ul></section>'


def _by_k(found: dict) -> dict[str, list[list[float]]]:
    return {method: [[float(k), cell["mean"]] for k, cell in own.items()] for method, own in found["regret"].items()}


def _table(caption: str, head: list[str], body: list[list[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    rows = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in body
    )
    thead = f"<thead><tr>{top}</tr></thead>" if any(head) else ""
    return (
        f'<div class="scroll"><table class="plain figures"><caption><span>{escape(caption)}</span></caption>'
        f"{thead}<tbody>{rows}</tbody></table></div>"
    )


def _chart(series: dict[str, list[list[float]]], x: str, marks: list[int], labels: dict[str, str]) -> str:
    """Draw the regret against x from zero to the largest value, with marks on the x axis and a legend."""
    styles = palette.styles(list(series))
    right = max(point[0] for points in series.values() for point in points)
    high = 1.05 * max(point[1] for points in series.values() for point in points)

    def across(value: float) -> float:
        return LEFT + value / right * (WIDTH - LEFT - RIGHT)

    def at(point: list[float]) -> str:
        return f"{across(point[0]):.1f},{_height(point[1], high):.1f}"

    lines = "".join(
        f'<polyline fill="none" stroke="var(--m-{method})" stroke-width="2" stroke-dasharray="{styles[method][2]}" '
        f'points="{" ".join(map(at, points))}"><title>{escape(labels[method])}</title></polyline>'
        for method, points in series.items()
    )
    ticks = "".join(
        f'<text x="{LEFT - 6}" y="{_height(value, high) + 4:.1f}" text-anchor="end">{value:,.0f}</text>'
        for value in (0, high / 2.1, high / 1.05)
    )
    ends = "".join(
        f'<text x="{across(mark):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{mark:,}</text>'
        for mark in marks
    )
    axes = f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="var(--soft)"/>'
    names = f'<text class="axis" x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{x}</text>'
    legend = "".join(f'<li style="--c: var(--m-{method})">{escape(labels[method])}</li>' for method in series)
    return (
        f'<figure><svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="regret against {x}">'
        f'{axes}{lines}{ticks}{ends}{names}</svg><ul class="key">{legend}</ul></figure>'
    )


def _height(value: float, high: float) -> float:
    return HEIGHT - BOTTOM - value / high * (HEIGHT - BOTTOM - TOP)
