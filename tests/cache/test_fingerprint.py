"""The fingerprint of a stage changes with the code behind it, and with nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphdr.cache.fingerprint import PACKAGE, closure
from tests.support.reruns import STAGES, codes, copy_package, edit


@pytest.fixture
def changed(tmp_path):
    """Return a function that applies edits to a copy of the package and returns which stages changed."""

    def stages(*edits: tuple[str, str, str]) -> set[str]:
        package = copy_package(tmp_path)
        for module, old, new in edits:
            edit(package / module, old, new)
        before, after = codes(), codes(package)
        return {stage for stage in STAGES if before[stage] != after[stage]}

    return stages


def test_comments_and_docstrings_change_nothing(changed):
    """All modules are edited in one copy: a stage whose fingerprint stays ignores each of these edits."""
    edits = []
    for module in sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")):
        text = (PACKAGE / module).read_text()
        docstring = text.split('"""')[1]
        commented = "# a comment\n" + text.replace(docstring, docstring + " Really.\n", 1) + "\n# another\n"
        assert commented.count("Really.") > text.count("Really.")
        edits.append((module, text, commented))
    assert len(edits) > 100
    assert changed(*edits) == set()


@pytest.mark.parametrize(
    ("module", "old", "new", "stages"),
    [
        ("bandit/linucb.py", "total = 0.0", "total = 1.0", {"run_bandit"}),
        ("facts/graph_facts.py", "4.0 * eps_l", "5.0 * eps_l", {"describe_problem"}),
        ("paper/compare.py", "0.03", "0.04", {"compare_paper", "make_report"}),
        ("show/words.toml", 'alpha = "', 'alpha = "the ', {"make_figure", "make_report"}),
        ("show/report/static/page.css", "}", "} /* edited */", {"make_report"}),
        ("__init__.py", "__version__ =", "__version__ = 'x' +", set()),
    ],
)
def test_an_edit_changes_the_stages_that_use_the_code_or_the_data_file(changed, module, old, new, stages):
    assert changed((module, old, new)) == stages


def test_every_data_file_that_is_opened_on_import_of_the_stages_is_code():
    script = """
import importlib, sys
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
for stage in sys.argv[1:]:
    importlib.import_module(f"graphdr.stages.{stage}")
print("\\n".join(opened))
"""
    done = subprocess.run([sys.executable, "-c", script, *STAGES], capture_output=True, text=True, check=True)
    ours = [Path(name) for name in done.stdout.splitlines() if Path(name).is_relative_to(PACKAGE)]
    opened = {path.relative_to(PACKAGE).as_posix() for path in ours if path.suffix not in (".py", ".pyc", "")}
    counted = {path for stage in STAGES for source in closure(stage).values() for path in source.data_files}
    assert "show/words.toml" in opened
    assert opened - {"cache/schemas.toml"} <= counted
