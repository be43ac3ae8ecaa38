"""The public surface: named once, imported lazily, typed, and explained by a page and examples that hold."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
import tomllib
from importlib import import_module

import numpy as np
import pytest
import yaml
from packaging.version import Version

import graphdr
from docs import api
from tests.support.project import ROOT

PACKAGE = ROOT / "src/graphdr"


@pytest.mark.parametrize("name", graphdr.__all__)
def test_every_public_name_leads_to_something_documented(name):
    item = getattr(graphdr, name)
    module, attribute = graphdr._PLACES[name].split(":")
    assert item is getattr(import_module(f"graphdr.{module}"), attribute)
    assert item.__doc__
    assert item.__module__ == f"graphdr.{module}"


@pytest.mark.parametrize("name", graphdr.__all__)
def test_the_examples_of_public_names_hold(name, workdir):
    item = getattr(graphdr, name)
    module = import_module(item.__module__)
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(item, name, module=module, globs={"graphdr": graphdr, "np": np}):
        assert runner.run(example).failed == 0


def test_all_names_say_what_they_take_or_hold_and_functions_have_an_example():
    texts = {name: inspect.getdoc(getattr(graphdr, name)) for name in graphdr.__all__}
    without_example = {name for name, text in texts.items() if ">>>" not in text}
    assert without_example == {"Graph", "RunResult", "Estimate", "UserError"}
    without_fields = [name for name, text in texts.items() if not re.search(r"(Parameters|Attributes)\n-----", text)]
    assert without_fields == ["UserError"]


def test_importing_the_package_loads_nothing_else():
    code = "import sys; before = set(sys.modules); import graphdr; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["graphdr"]


def test_the_version_is_the_same_everywhere_and_newer_than_what_is_refused():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    assert project["version"] == cited == graphdr.__version__
    assert Version(graphdr.__version__) > Version("0.4.0")


def test_a_wrong_name_is_an_attribute_error_and_a_star_import_has_all():
    with pytest.raises(AttributeError, match="no attribute 'sbn'"):
        graphdr.sbn  # noqa: B018
    scope = {}
    exec("from graphdr import *", scope)
    assert set(graphdr.__all__) <= set(scope)
    assert {"__version__", *graphdr.__all__} <= set(dir(graphdr))


def test_type_checkers_are_told_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    places = {alias.asname: f"{node.module}:{alias.name}" for node in imports for alias in node.names}
    assert places == {name: f"graphdr.{place}" for name, place in graphdr._PLACES.items()}
    (listed,) = (node.value for node in tree.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(listed) == sorted(graphdr.__all__)


def test_no_module_imports_the_surface():
    """Fingerprints follow modules by name: what comes through the surface would be code that reruns nothing."""
    for path in PACKAGE.rglob("*.py"):
        for names in re.findall(r"^\s*from graphdr import (.+)$", path.read_text(), re.M):
            assert names == "__version__", path


def test_the_committed_page_is_what_the_code_says():
    assert (ROOT / api.PAGE).read_text(encoding="utf-8") == api.render(), "run make docs"
