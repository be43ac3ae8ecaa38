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
    page = os.environ.get("PAGE")
    return Path(page) if page else request.getfixturevalue("built") / "results/report.html"


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


@pytest.fixture
def unfolded(page) -> Page:
    """The page with all that it folds."""
    page.ask(UNFOLD)
    return page


# Open all that is folded, also what appears thereby, and wait until its charts are drawn.
UNFOLD = """(async () => {
    for (let part; (part = document.querySelector("details:not([open])")); ) unfold(part);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))));
})()"""


def test_it_is_small_loads_fast_raises_no_error_and_requests_nothing(page, report):
    assert report.stat().st_size < 5e6
    assert page.open(report) < 3
    requested = {address for address in page.requests if not address.startswith(("data:", "about:"))}
    assert requested == {report.resolve().as_uri()}
    assert page.errors == []


def test_every_chart_has_marks_and_labelled_axes(unfolded):
    charts = unfolded.ask(
        """[...document.querySelectorAll("[data-chart]")].map((plot) => ({
            kind: plot.dataset.chart,
            marks: plot.querySelectorAll(".marks path, .marks circle, .marks line").length,
            axes: [...plot.querySelectorAll(".axis")].filter((text) => text.textContent).length,
            named: ["svg[role=img] > title", "svg > desc"].every((part) => plot.querySelector(part)?.textContent),
            broken: /NaN|Infinity|undefined/.test(plot.innerHTML),
        }))"""
    )
    kinds = {chart["kind"] for chart in charts}
    assert kinds >= {"scatter", "curves", "panel", "spectrum", "energy", "map"}
    for chart in charts:
        assert chart["marks"] > 0, chart
        assert chart["axes"] == (1 if chart["kind"] == "panel" else 2), chart
        assert chart["named"], chart
        assert not chart["broken"], chart


def test_a_method_is_switched_off_and_on(unfolded):
    section = 'document.querySelector(".experiment:has(.legend)")'
    method = unfolded.ask(f'{section}.querySelector(".legend button[aria-pressed=true]").dataset.method')
    button = f'{section}.querySelector(".legend button[data-method={method}]")'
    lines = f'{section}.querySelectorAll("[data-chart=curves] .marks [data-method={method}]").length'
    before = unfolded.ask(lines)
    assert before > 0
    unfolded.ask(f"{button}.click()")
    assert (unfolded.ask(lines), unfolded.ask(f"{button}.getAttribute('aria-pressed')")) == (0, "false")
    unfolded.ask(f"{button}.click()")
    assert (unfolded.ask(lines), unfolded.ask(f"{button}.getAttribute('aria-pressed')")) == (before, "true")


def test_the_axis_changes_between_logarithmic_and_linear(unfolded):
    plot = 'document.querySelector("[data-chart=curves]")'
    before = unfolded.ask(f"{plot}.innerHTML")
    unfolded.ask('document.querySelector("[data-control=log]").click()')
    assert "log axis" in before
    assert "log axis" not in unfolded.ask(f"{plot}.innerHTML")


def test_another_problem_shows_other_curves(unfolded):
    chosen = 'document.querySelector(".experiment:has(.controls select)")'
    plot = f'{chosen}.querySelector("[data-chart=curves]")'
    before = unfolded.ask(f"{plot}.innerHTML")
    unfolded.ask(f"{chosen}.querySelector('select').selectedIndex = 1")
    unfolded.ask(f"{chosen}.querySelector('select').dispatchEvent(new Event('change'))")
    assert unfolded.ask(f"{plot}.innerHTML") != before


def test_pointer_and_keys_read_out_values(unfolded):
    unfolded.ask(
        """(() => {
            const plot = document.querySelector("[data-chart=curves]"), box = plot.getBoundingClientRect();
            const at = { clientX: box.left + box.width / 2, clientY: box.top + 60 };
            plot.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", at));
        })()"""
    )
    tip = 'document.querySelector(".experiment .note")'
    assert unfolded.ask(f"!{tip}.hidden && {tip}.querySelectorAll('tbody tr').length") > 0
    plot = 'document.querySelector("[data-chart=curves]")'
    unfolded.ask(f'{plot}.dispatchEvent(new KeyboardEvent("keydown", {{ key: "ArrowLeft" }}))')
    assert unfolded.ask('document.querySelector(".experiment [aria-live]").textContent').startswith("Round ")


def test_claims_are_filtered_by_verdict_and_by_text(page):
    visible = 'document.querySelectorAll(".claims > li:not([hidden])").length'
    total = page.ask(visible)
    missing = page.ask('document.querySelectorAll(".claims > li[data-word=\\"no data\\"]").length')
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
def test_nothing_sticks_out_and_text_is_readable_against_what_it_stands_on(page, report, width, dark):
    page.resize(width, 850, dark)
    page.open(report)
    for state in ("true", UNFOLD):
        page.ask(state)
        assert page.ask("document.documentElement.scrollWidth") <= page.ask("document.documentElement.clientWidth")
        outside = page.ask(
            """[...document.querySelectorAll("main *, header *")].filter((node) =>
                node.getBoundingClientRect().right > document.documentElement.clientWidth + 1 &&
                !node.closest(".scroll, .sheet, pre, .unseen, svg")).map((node) => node.outerHTML.slice(0, 80))"""
        )
        assert outside == []
    assert page.ask(CONTRAST) == []
    assert ("invert" in page.ask('getComputedStyle(document.querySelector(".sheet img")).filter')) == dark


# Claims and words


def test_a_line_of_the_story_opens_its_claim(page):
    links = page.ask('[...document.querySelectorAll("[data-list] li a")].map((link) => link.hash.slice(1))')
    claims = page.ask('[...document.querySelectorAll(".claims details")].map((claim) => claim.id)')
    assert set(links) <= set(claims)
    link = 'document.querySelector("[data-list] li a")'
    page.ask(f"{link}.click()")
    page.ask("new Promise((done) => setTimeout(done, 50))")
    claim = page.ask(f"{link}.hash.slice(1)")
    assert page.ask(f'document.getElementById("{claim}").getBoundingClientRect().top') < 900
    assert page.ask(f'document.querySelector("#{claim} .measured") !== null')


def test_no_name_of_the_configuration_is_visible(unfolded):
    """Commands, settings and addresses may hold names; a data set without a label has no other word."""
    assert set(unfolded.ask(VISIBLE_NAMES)) == set()


def test_every_verdict_is_defined(page):
    used = page.ask('[...new Set([...document.querySelectorAll("#numbers li .verdict")].map((n) => n.textContent))]')
    defined = page.ask('[...document.querySelectorAll(".meanings dt")].map((n) => n.textContent)')
    assert set(used) <= set(defined)
    assert {"● holds", "◐ mixed", "✕ fails", "◌ vacuous"} <= set(defined)


def test_a_term_explains_itself_to_the_pointer_and_to_the_keyboard(page):
    term, box = 'document.querySelector("abbr[data-meaning]")', 'document.getElementById("meaning")'
    assert page.ask(f"{box}.hidden")
    page.ask(f"{term}.focus()")
    assert page.ask(f"!{box}.hidden && {box}.textContent === {term}.dataset.meaning")
    page.ask('document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))')
    assert page.ask(f"{box}.hidden")
    page.ask(f'{term}.dispatchEvent(new PointerEvent("pointerover", {{ bubbles: true }}))')
    assert page.ask(f"!{box}.hidden")


# Numbers


def test_a_number_of_the_scatter_leads_to_its_cell(page):
    plot = 'document.querySelector("[data-chart=scatter]")'
    page.ask(f"{plot}.focus()")
    page.ask(f'{plot}.dispatchEvent(new KeyboardEvent("keydown", {{ key: "ArrowRight" }}))')
    assert "paper" in page.ask('document.querySelector("#numbers [aria-live]").textContent')
    assert page.ask('!document.querySelector("#numbers .note").hidden')
    page.ask(f"{plot}.click()")
    page.ask("new Promise((done) => setTimeout(done, 100))")
    cell = page.ask("location.hash.slice(1)")
    assert cell.startswith("t-")
    top = page.ask(f'document.getElementById("{cell}").getBoundingClientRect().top')
    assert 0 <= top <= 900
    assert page.ask(f'document.activeElement.id === "{cell}"')


def test_ranges_are_shown_on_demand(unfolded):
    shown = '[...document.querySelectorAll(".spread")].filter((part) => part.checkVisibility()).length'
    assert unfolded.ask(shown) == 0
    unfolded.ask('document.querySelector("[data-control=ranges]").click()')
    assert unfolded.ask(shown) > 0


def test_every_table_has_its_file_its_address_and_its_origin(unfolded, report):
    tools = unfolded.ask(
        """[...document.querySelectorAll("[data-table]")].map((table) => {
            const tools = table.closest("[id]").querySelector(".tools");
            const [file, address] = [...tools.querySelectorAll("a")].map((link) => link.getAttribute("href"));
            return [table.dataset.table, file, address, tools.querySelector("code")?.textContent];
        })"""
    )
    assert tools
    for table, file, address, origin in tools:
        assert (report.parent / file).is_file()
        assert address == f"#t-{table}"
        assert origin.startswith(f"graphdr why {table} ")


def test_the_policy_of_the_page_holds(unfolded):
    assert unfolded.errors == []
    unfolded.ask(
        """(() => {
            const script = document.createElement("script");
            script.textContent = "window.broken = true";
            document.body.append(script);
            document.body.setAttribute("style", "outline: 5px solid red");
        })()"""
    )
    assert unfolded.ask("window.broken === undefined")
    assert unfolded.ask("getComputedStyle(document.body).outlineStyle") == "none"


def test_the_page_of_the_main_comparison_alone_shows_it(page, report):
    page.errors.clear()
    page.open(report.with_name("headline.html"))
    assert page.errors == []
    assert page.ask('document.querySelectorAll("[data-chart=curves] .marks path").length') > 0
    assert page.ask("scrollY") == 0
    assert page.ask('document.querySelectorAll("[data-list], [data-word]").length') == 0


def test_controls_and_tables_tell_what_they_are(unfolded):
    unnamed = """[
        ...document.querySelectorAll("button:not([aria-pressed]), table:not(:has(> caption)), thead th:not([scope])"),
        ...[...document.querySelectorAll("select, input")].filter((field) => !field.labels.length),
        ...[...document.querySelectorAll("[id]")].filter((node) => document.getElementById(node.id) !== node),
    ].map((node) => node.outerHTML.slice(0, 80))"""
    assert unfolded.ask(unnamed) == []
    assert unfolded.ask('document.querySelector("a.skip").getAttribute("href")') == "#main"


# Names of the configuration that are words of a visible text: those with an underscore, and methods and data sets.
VISIBLE_NAMES = """(() => {
    const { settings, tables, claims, meanings, datasets } = DATA;
    const labels = Object.values(datasets).map(({ label }) => label);
    const blocks = ["methods", "experiments", "problems", "evaluations", "datasets", "protocol", "observed"];
    const names = [...blocks.flatMap((block) => Object.keys(settings[block] ?? {})), ...Object.keys(tables),
        ...Object.values(tables).flatMap(({ head }) => head.map(({ column }) => column)),
        ...Object.keys(meanings.quantities), ...claims.map(({ claim }) => claim)];
    const plain = new Set(["random", "worst", "adaptive"]);
    const keys = [settings.methods, settings.datasets ?? {}].flatMap(Object.keys),
        alone = keys.filter((name) => !plain.has(name));
    const odd = new Set([...names.filter((name) => name.includes("_")), ...alone].filter((n) => !labels.includes(n)));
    const found = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode()); ) {
        if (node.parentElement.closest("code, pre, script, style")) continue;
        const words = node.data.match(/[A-Za-z0-9_]+/g) ?? [];
        for (const word of words.filter((word) => odd.has(word))) found.add(`${word}: ${node.data}`);
    }
    return [...found];
})()"""

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
