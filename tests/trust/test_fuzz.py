"""Odd input of every kind is read right or refused in one line; ``make fuzz`` tries thousands of cases more."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.core.errors import UserError
from graphdr.graphs.records import similarity_rows
from tests.support.adapter_twins import ADAPTERS, TWINS, same
from tests.support.project import ROOT
from trust import cases, checks, pipeline

FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
PAPER = {"numbers": "reference.csv", "claims": "claims.csv"}


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
def test_odd_configurations(config):
    checks.configuration(config)


@FEW
@given(cases.odd_files(checks.tiny_text()))
def test_odd_texts_as_configuration(tmp_path, text):
    checks.configuration_text(text, tmp_path)


@pytest.mark.parametrize("kind", PAPER)
@FEW
@given(st.data())
def test_odd_numbers_and_claims_of_the_paper(tmp_path, kind, data):
    lines = (ROOT / "data" / "paper" / PAPER[kind]).read_bytes().splitlines(keepends=True)
    checks.printed_file(kind, data.draw(cases.odd_files(b"".join(lines[:9]))), tmp_path)


@pytest.mark.parametrize("kind", PAPER)
def test_the_paper_itself_is_taken(tmp_path, kind):
    assert checks.printed_file(kind, (ROOT / "data" / "paper" / PAPER[kind]).read_bytes(), tmp_path)


@settings(FEW, max_examples=100)
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


def rating(text: str) -> cases.Memory:
    return cases.Memory(inter=f"user_id:token\titem_id:token\trating:float\nu\ti\t{text}\n".encode())


@pytest.mark.parametrize("text", ["1e101", "-1e300", "1e999", "nan", "-inf"])
def test_a_number_whose_square_overflows_is_refused(text):
    with pytest.raises(UserError, match=r"line 2: rating .* is not a finite number of at most 1e100"):
        ADAPTERS["recbole"](rating(text))
    assert ADAPTERS["recbole"](rating("1e100")).links["weight"].to_pylist() == [1e100]


def test_the_logarithm_of_a_negative_weight_is_refused():
    one = np.array([0])
    with pytest.raises(UserError, match=r"log1p needs weights from 0, the data have -2.5"):
        similarity_rows(one, one, np.array([-2.5]), one, "log1p")


def test_a_name_cannot_break_a_message_into_lines():
    raw = cases.Memory(inter=b"\x0bser_id:token\titem_id:token\nu\ti\n")
    with pytest.raises(
        UserError, match="no column 'user_id'; there are: \N{REPLACEMENT CHARACTER}ser_id, item_id"
    ) as error:
        ADAPTERS["recbole"](raw)
    assert len(str(error.value).splitlines()) == 1
