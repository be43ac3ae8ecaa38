"""Odd input of every kind is read right or refused in one line; ``make fuzz`` tries thousands of cases more."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.advise import reading
from graphdr.core.errors import UserError
from graphdr.graphs.records import similarity_rows
from graphdr.plan import config
from graphdr.plan.yaml_files import read_yaml
from tests.support.adapter_twins import ADAPTERS, TWINS, same
from tests.support.policies import refused
from tests.support.project import ROOT
from trust import cases, checks, pipeline

FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
PAPER = {"numbers": "reference.csv", "claims": "claims.csv"}


def paper(kind: str) -> bytes:
    """Return the first lines of a file of the paper."""
    return b"".join((ROOT / "data" / "paper" / PAPER[kind]).read_bytes().splitlines(keepends=True)[:9])


@pytest.mark.parametrize("name", ADAPTERS)
@FEW
@given(st.data())
def test_odd_raw_files(name, data):
    raw = cases.fixture(name)
    role = data.draw(st.sampled_from(sorted(raw)))
    raw[role] = data.draw(cases.odd_files(raw[role]))
    tables = checks.adapter(name, raw)
    if tables and not any(text.startswith(b"\xef\xbb\xbf") for text in raw.values()):  # the twins know no such mark
        same(tables, TWINS[name](raw))


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n", cases.PAGE, b"\xff\xfe", b"\0" * 100])
def test_what_is_no_data_at_all_is_refused(name, data):
    example = cases.fixture(name)
    first = {"mind": "behaviors", "ogbn_arxiv": "edges"}.get(name, next(role for role in reversed(sorted(example))))
    assert checks.adapter(name, cases.Memory(example | {first: data})) is None


@FEW
@given(cases.odd_configurations())
def test_odd_configurations(settings):
    checks.configuration(settings)


@FEW
@given(cases.odd_files(checks.tiny_text()))
def test_odd_texts_as_configuration(tmp_path, text):
    checks.configuration_text(text, tmp_path)


@pytest.mark.parametrize("kind", PAPER)
@FEW
@given(st.data())
def test_odd_numbers_and_claims_of_the_paper(tmp_path, kind, data):
    checks.printed_file(kind, data.draw(cases.odd_files(paper(kind))), tmp_path)


@settings(FEW, max_examples=40)
@given(cases.odd_archives())
def test_odd_archives(tmp_path, data):
    checks.archive(cases.path_of(tmp_path, data))


@FEW
@given(cases.odd_graphs(), st.sampled_from([1, 3, 4, 5, 10, 11, 20]))
def test_graphs_in_pieces_and_with_tied_eigenvalues(graph, k):
    checks.graph(*graph, k=k)


@settings(FEW, max_examples=8)
@given(pipeline.odd_ratings(), st.sampled_from([1, 3, 22]))
def test_odd_ratings_through_all_stages(tmp_path, data, k):
    pipeline.build(tmp_path, data, k)


# A message quotes at most 80 characters of a file, and printable ones alone: the checks count a rare letter


def with_long_texts(data: bytes, long: bytes) -> list[bytes]:
    """Return a file with a long text in place of every field of its first two lines, of a line, and of the file."""
    separator = next((mark for mark in cases.SEPARATORS if mark in data), b",")
    lines = data.split(b"\n")
    files = [long, b"\n".join([long, *lines]), b"\n".join([*lines[:1], long, *lines[1:]])]
    for at in range(min(2, len(lines))):
        fields = lines[at].split(separator)
        for place in range(len(fields)):
            changed = separator.join([*fields[:place], long, *fields[place + 1 :]])
            files.append(b"\n".join([*lines[:at], changed, *lines[at + 1 :]]))
    return [*files, separator.join([long] * 9) + b"\n" + data]


@pytest.mark.parametrize("long", cases.LONG, ids=["letters", "controls", "words"])
@pytest.mark.parametrize("kind", [*ADAPTERS, *PAPER, "t.csv", "g.graphml"])
def test_a_message_about_a_file_quotes_little_of_it(tmp_path, kind, long):
    example = {kind: paper(kind) if kind in PAPER else cases.user_files().get(kind)}
    if kind in ADAPTERS:
        example = cases.fixture(kind)
    for role, data in example.items():
        for odd in with_long_texts(data, long):
            if kind in ADAPTERS:
                checks.adapter(kind, cases.Memory(example | {role: odd}))
            elif kind in PAPER:
                checks.printed_file(kind, odd, tmp_path)
            else:
                checks.user_file(odd, tmp_path / kind)


TABLES = {
    "long names": f"user,{cases.RARE * 300},{cases.RARE * 200}\n1,2,3\n".encode(),
    "a long name twice": f"{cases.RARE * 300},{cases.RARE * 300}\n1,2\n".encode(),
    "other line ends": (cases.user_files()["t.csv"].decode() * 2).encode("cp037"),  # in EBCDIC the file is one line
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_message_about_columns_quotes_little_of_their_names(tmp_path, table):
    (tmp_path / "t.csv").write_bytes(table)
    with pytest.raises(UserError) as error:
        reading.read(reading.Request(interactions=tmp_path / "t.csv"))
    assert cases.one_line(error.value, re.escape(str(tmp_path)))


@pytest.mark.parametrize("text", [f"*{cases.RARE * 300}", f"a: !{'x' * 300} 1", "a: [" + cases.RARE * 300])
def test_a_message_about_yaml_quotes_little_of_it(tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(UserError, match=r"c.yaml: cannot be read \(line \d, column \d") as error:
        read_yaml(tmp_path / "c.yaml")
    assert cases.one_line(error.value, re.escape(str(tmp_path)))
    assert len(str(error.value)) < len(str(tmp_path)) + 150


def test_a_name_of_a_file_that_is_too_long_is_one_clear_line():
    with pytest.raises(UserError, match=r"sources: x+…") as error:
        config.read({"sources": "x" * 5000})
    assert len(str(error.value)) < 200


def rating(text: str) -> cases.Memory:
    return cases.Memory(inter=f"user_id:token\titem_id:token\trating:float\nu\ti\t{text}\n".encode())


@pytest.mark.parametrize("text", ["1e101", "-1e300", "1e999", "nan", "-inf"])
def test_a_number_whose_square_overflows_is_refused(text):
    with pytest.raises(UserError, match=r"line 2: rating .* is not a finite number of at most 1e\+100"):
        ADAPTERS["recbole"](rating(text))
    assert ADAPTERS["recbole"](rating("1e100")).links["weight"].to_pylist() == [1e100]


def test_the_logarithm_of_a_negative_weight_is_refused():
    one = np.array([0])
    with pytest.raises(UserError, match=r"log1p needs weights from 0, the data have -2.5"):
        similarity_rows(one, one, np.array([-2.5]), one, "log1p")


def test_a_name_cannot_break_a_message_into_lines():
    raw = cases.Memory(inter=b"\x0bser_id:token\titem_id:token\nu\ti\n")
    with refused("no column 'user_id'; there are: \N{REPLACEMENT CHARACTER}ser_id, item_id", UserError):
        ADAPTERS["recbole"](raw)
