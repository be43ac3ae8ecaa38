"""With the core alone: help, one line for what needs more, and no package beyond the core's behind the maths."""

import tomllib

import pytest

from graphdr.core import errors
from tests.support.lacking import COMMAND, WORKFLOW, python_without
from tests.support.project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = (*errors.FILES, *WORKFLOW)  # what is not there where only the core is


def test_the_extra_for_files_is_as_the_project_has_it():
    assert tuple(entry.partition(">")[0] for entry in PROJECT["optional-dependencies"]["files"]) == errors.FILES


@pytest.mark.parametrize(
    ("module", "extra", "message"),
    [
        ("pyarrow.parquet", [], r'^it needs pyarrow: pip install "graphdr\[files\]"$'),
        ("pandas", [], r'^it needs pandas: pip install "graphdr\[workflow\]"$'),
        ("pyarrow", ["workflow"], r"graphdr\[workflow\]"),
    ],
)
def test_a_missing_package_is_one_line_that_names_the_extra(module, extra, message):
    with pytest.raises(errors.MissingExtra, match=message) as caught, errors.needed_for("it", *extra):
        raise ModuleNotFoundError(name=module)
    assert isinstance(caught.value, errors.UserError)
    assert isinstance(caught.value, ImportError)
    # A missing module of our own stays a bug.
    with pytest.raises(ModuleNotFoundError), errors.needed_for("it"):
        raise ModuleNotFoundError(name="graphdr.nothing")


def test_every_public_name_but_those_of_files_needs_the_core_alone():
    code = """
import graphdr
for name in graphdr.__all__:
    try:
        getattr(graphdr, name)
    except ImportError as error:
        print(error)
"""
    needs = [line.split()[0] for line in python_without(CORE, code).stdout.splitlines()]
    assert needs == ["graphdr.read_table", "graphdr.read_frame"]


def test_help_needs_the_core_alone(tmp_path):
    for arguments in (["--help"], ["--version"], ["advise", "--help"], ["show", "--help"]):
        done = python_without(CORE, COMMAND, *arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.parametrize(
    ("command", "said"),
    [(["show", "x"], 'graphdr show needs pyarrow: pip install "graphdr[workflow]"'),
     (["ls"], 'graphdr ls needs pyarrow: pip install "graphdr[workflow]"'),
     (["advise", "x.csv"], 'graphdr advise needs pyarrow: pip install "graphdr[files]"')],
)  # fmt: skip
def test_a_command_that_needs_more_says_what_in_one_line(tmp_path, command, said):
    for name in ("config.yaml", "Snakefile"):
        (tmp_path / name).touch()
    done = python_without(CORE, COMMAND, *command, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"error: {said}\n")
