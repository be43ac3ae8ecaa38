"""The one reader of text: what a quote means, and which line is named."""

import pytest

from graphdr.core.errors import UserError
from graphdr.paper import reference
from graphdr.raw import text
from tests.support.policies import refused

HEADER = ",".join(reference.CLAIMS)


@pytest.fixture
def claims(tmp_path):
    """Return a function that reads claims, which may be quoted, as lists of texts."""

    def read(body: str) -> list[list[str]]:
        path = tmp_path / "x.csv"
        path.write_bytes(f"{HEADER}\n{body}".encode())
        return reference.claims(str(path)).to_numpy().tolist()

    return read


@pytest.mark.parametrize(
    ("row", "first"),
    [
        ('"1,5",2,', ["1,5", "2", ""]),
        ('"say ""yes""",2,', ['say "yes"', "2", ""]),
        ('5" screen,2,', ['5" screen', "2", ""]),
        ('"two\nlines",2,3', ["two\nlines", "2", "3"]),
    ],
)
def test_quotes_of_a_user_make_one_field(claims, row, first):
    assert claims(f"{row}\n3,4,5\n") == [first, ["3", "4", "5"]]


@pytest.mark.parametrize("delimiter", ["\t", ",", "|", "::"])
def test_a_quote_is_a_letter_in_published_files(delimiter):
    file = text.File("x", f'a{delimiter}b\n"1{delimiter}2"\n'.encode())
    sheet = text.parse(file, {"a": "text", "b": "text"}, delimiter, f"a{delimiter}b")
    assert sheet.columns.to_pylist() == [{"a": '"1', "b": '2"'}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '"1\n1",2,\n3\n',
            r", line 4: number of fields is 1; expected 3 \(claim, where, statement\), separated by commas$",
        ),
        ('1,2,3\n"3,4,5\n5,6,7', ", line 3: a quote that is not closed: "),
        ('"1\n1",2,3\n,4,5\n', ", line 4: claim ''; expected a name that is not above"),
        ("", ": no rows below the header"),
    ],
)
def test_a_mistake_names_the_line_in_which_its_row_begins(claims, body, message):
    with pytest.raises(UserError, match=f"x.csv{message}"):
        claims(body)


def test_text_that_is_not_utf8_and_a_second_header_name_their_line():
    for body, message in ((b"1,2\n\xe9,3\n", "not UTF-8 text"), (b"3,4\na,b\n", "the header again")):
        with refused(f"x, line 3: {message}", UserError):
            text.parse(text.File("x", b"a,b\n" + body), {"a": "text", "b": "text"}, ",", "a,b")
