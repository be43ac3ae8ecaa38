"""The examples of the user guide print what they show, and the pages make a site that needs no network."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from numpy.testing import assert_allclose

from tests.support.project import ROOT

EXAMPLES = re.findall(
    r"^## (.+?)\n.*?```python\n(.*?)```\n\n```text\n(.*?)```",
    (ROOT / "docs/examples.md").read_text(encoding="utf-8"),
    re.S | re.M,
)
NUMBER = r"\d+(?:\.\d+)?"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("code", "shown"), [pytest.param(*rest, id=title) for title, *rest in EXAMPLES])
def test_an_example_prints_what_it_shows(code, shown, workdir, capsys):
    if "networkx" in code:
        pytest.importorskip("networkx")
    exec(code, {"__name__": "example"})
    printed = capsys.readouterr().out
    assert re.sub(NUMBER, "0", printed) == re.sub(NUMBER, "0", shown)
    close = {"rtol": 0.05, "atol": 0.02}  # another machine may round a tie to another arm
    assert_allclose(*([float(number) for number in re.findall(NUMBER, text)] for text in (printed, shown)), **close)


class Loaded(HTMLParser):
    """What a page loads by itself: scripts, styles, fonts and pictures."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        self.addresses += [value for name, value in attributes if name == "src" or (name == "href" and tag == "link")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    options = ["-q", "-W", "--keep-going", "-c", "docs", "-d", folder / "trees"]
    command = [sys.executable, "-m", "sphinx", "-b", "html", *options, ".", folder / "site"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # a link that leads nowhere is among the warnings
    return folder / "site"


def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site):
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages == {path.stem for path in (site / "docs").glob("*.html")}
    assert {path.stem for path in site.glob("*.html")} >= {"index", "search", "README", "CONTRIBUTING", "CHANGELOG"}
    for path in site.rglob("*.html"):
        page = Loaded()
        page.feed(path.read_text(encoding="utf-8"))
        assert not [address for address in page.addresses if "//" in address], path
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles)
    assert "url=docs/README.html" in (site / "index.html").read_text(encoding="utf-8")
    assert "roundlog" in (site / "searchindex.js").read_text(encoding="utf-8")
