"""The report in a real browser: nothing fails, nothing is fetched, all is drawn, and the controls do what they say.

``tests/page/run`` calls it. PAGE names another page than that of the tiny configuration.
"""

import os
from pathlib import Path

import pytest

from tests.page.browser import Page, browser, executable

pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium here")
WIDTHS = (390, 1400)


@pytest.fixture(scope="module")
def report(request) -> Path:
    """The page given by PAGE, or that of a checkout with the tiny configuration."""
    given = os.environ.get("PAGE")
    return Path(given) if given else request.getfixturevalue("built") / "results/report.html"


@pytest.fixture(scope="module")
def tab():
    with browser() as page:
        yield page


@pytest.fixture
def page(tab, report) -> Page:
    """The page, opened anew on a desktop."""
    tab.errors.clear()
    tab.requests.clear()
    tab.resize(1400, 900)
    tab.open(report)
    return tab


def test_it_is_small_and_loads_fast(tab, report):
    assert report.stat().st_size < 5e6
    tab.resize(1400, 900)
    assert tab.open(report) < 3


def test_it_raises_no_error_and_requests_nothing(page, report):
    asked = [address for address in page.requests if not address.startswith(("data:", "about:"))]
    assert asked == [report.resolve().as_uri()]
    assert page.errors == []


def test_every_chart_has_marks_and_labelled_axes(page):
    charts = page.ask(
        """[...document.querySelectorAll("[data-chart]")].map((plot) => ({
            kind: plot.dataset.chart,
            marks: plot.querySelectorAll(".marks path, .marks circle, .marks line").length,
            axes: [...plot.querySelectorAll(".axis")].filter((text) => text.textContent).length,
            named: ["svg[role=img] > title", "svg > desc"].every((part) => plot.querySelector(part)?.textContent),
            broken: /NaN|Infinity|undefined/.test(plot.innerHTML),
        }))"""
    )
    kinds = {chart["kind"] for chart in charts}
    assert kinds >= {"curves", "panel", "spectrum", "energy", "map"}
    for chart in charts:
        assert chart["marks"] > 0, chart
        assert chart["axes"] == (1 if chart["kind"] == "panel" else 2), chart
        assert chart["named"], chart
        assert not chart["broken"], chart


def test_a_method_is_switched_off_and_on(page):
    section = 'document.querySelector(".experiment:has(.legend)")'
    button = f'{section}.querySelector(".legend button")'
    method = page.ask(f"{button}.dataset.method")
    lines = f'{section}.querySelectorAll("[data-chart=curves] .marks [data-method={method}]").length'
    before = page.ask(lines)
    assert before > 0
    page.ask(f"{button}.click()")
    assert (page.ask(lines), page.ask(f"{button}.getAttribute('aria-pressed')")) == (0, "false")
    page.ask(f"{button}.click()")
    assert (page.ask(lines), page.ask(f"{button}.getAttribute('aria-pressed')")) == (before, "true")


def test_the_axis_changes_between_logarithmic_and_linear(page):
    plot = 'document.querySelector("[data-chart=curves]")'
    before = page.ask(f"{plot}.innerHTML")
    page.ask('document.querySelector("[data-control=log]").click()')
    assert "log axis" in before
    assert "log axis" not in page.ask(f"{plot}.innerHTML")


def test_another_problem_shows_other_curves(page):
    chosen = 'document.querySelector(".experiment:has(.controls select)")'
    plot = f'{chosen}.querySelector("[data-chart=curves]")'
    before = page.ask(f"{plot}.innerHTML")
    page.ask(f"{chosen}.querySelector('select').selectedIndex = 1")
    page.ask(f"{chosen}.querySelector('select').dispatchEvent(new Event('change'))")
    assert page.ask(f"{plot}.innerHTML") != before


def test_pointer_and_keys_read_out_values(page):
    page.ask(
        """(() => {
            const plot = document.querySelector("[data-chart=curves]"), box = plot.getBoundingClientRect();
            const at = { clientX: box.left + box.width / 2, clientY: box.top + 60 };
            plot.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", at));
        })()"""
    )
    tip = 'document.querySelector(".experiment .note")'
    assert page.ask(f"!{tip}.hidden && {tip}.querySelectorAll('tbody tr').length") > 0
    page.ask(
        """(() => {
            const plot = document.querySelector("[data-chart=curves]");
            plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
        })()"""
    )
    assert page.ask('document.querySelector(".experiment [aria-live]").textContent').startswith("Round ")


def test_claims_are_filtered_by_verdict_and_by_text(page):
    visible = 'document.querySelectorAll(".claims > li:not([hidden])").length'
    total, missing = (
        page.ask(visible),
        page.ask('document.querySelectorAll(".claims > li[data-word=\\"no data\\"]").length'),
    )
    page.ask('document.querySelector("#claims button[data-word=\\"no data\\"]").click()')
    assert page.ask(visible) == total - missing
    page.ask(
        """(() => {
            const search = document.querySelector("#claim-search");
            search.value = "no claim says this";
            search.dispatchEvent(new Event("input"));
        })()"""
    )
    assert page.ask(visible) == 0
    assert page.ask('document.querySelector("#claims [role=status]").textContent').startswith("0 of ")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_sticks_out(page, report, width, dark):
    page.resize(width, 850, dark)
    page.open(report)
    assert page.ask("document.documentElement.scrollWidth") <= page.ask("document.documentElement.clientWidth")
    outside = page.ask(
        """[...document.querySelectorAll("main *, header *")].filter((node) =>
            node.getBoundingClientRect().right > document.documentElement.clientWidth + 1 &&
            !node.closest(".scroll, .sheet, pre, .unseen, svg")).map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert outside == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_headline_is_on_the_first_screen(page, report, width):
    page.resize(width, 844)
    page.open(report)
    bottom = page.ask(
        'Math.max(...[...document.querySelectorAll(".big, .tally")].map((n) => n.getBoundingClientRect().bottom))'
    )
    assert bottom <= 844


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_against_what_it_stands_on(page, report, dark):
    page.resize(1400, 900, dark)
    page.open(report)
    assert page.ask(CONTRAST) == []


def test_controls_and_tables_tell_what_they_are(page):
    unnamed = """[
        ...document.querySelectorAll("button:not([aria-pressed]), table:not(:has(> caption)), thead th:not([scope])"),
        ...[...document.querySelectorAll("select, input")].filter((field) => !field.labels.length),
        ...[...document.querySelectorAll("[id]")].filter((node) => document.getElementById(node.id) !== node),
    ].map((node) => node.outerHTML.slice(0, 80))"""
    assert page.ask(unnamed) == []
    assert page.ask('document.querySelector("a.skip").getAttribute("href")') == "#main"


# Texts whose colour has less than 4.5:1 against the nearest background that is not transparent.
CONTRAST = """(() => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgb = (css) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = css;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data];
    };
    const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    const ground = (node) => {
        for (; node; node = node.parentElement) {
            const own = rgb(getComputedStyle(node).backgroundColor);
            if (own[3] === 255) return own;
        }
        return [255, 255, 255, 255];
    };
    const found = new Set(), known = new Map();
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
        if (!own || node.closest("script, style, title, desc, [hidden], .unseen, .skip")) continue;
        const style = getComputedStyle(node), colour = node.closest("svg") ? style.fill : style.color;
        const own_class = node.className.baseVal ?? node.className;
        const key = `${colour} ${own_class} ${node.tagName} ${node.parentElement.className}`;
        if (known.has(key)) continue;
        known.set(key, true);
        const [a, b] = [light(rgb(colour)), light(ground(node))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) found.add(`${node.tagName} ${key}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
    }
    return [...found];
})()"""
