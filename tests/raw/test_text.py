"""The one reader of text: what a quote means, and which line is named."""

import pytest

from graphdr.core.errors import UserError
from graphdr.raw import text

NAMES = ("a", "b")


def parsed(data: str, delimiter: str = ",", quoted: bool = True) -> list[dict]:
    file = text.user_text("x.csv", data.encode())
    sheet = text.parse(file, dict.fromkeys(NAMES, "text"), delimiter, delimiter.join(NAMES), quoted)
    return sheet.columns.to_pylist()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('"1,5",2', ("1,5", "2")),
        ('"say ""yes""",2', ('say "yes"', "2")),
        ('5" screen,2', ('5" screen', "2")),
        ('"two\nlines",2', ("two\nlines", "2")),
        ('"",2', ("", "2")),
    ],
)
def test_quotes_of_a_user_make_one_field(row, expected):
    assert parsed(f"a,b\n{row}\n3,4\n") == [dict(zip(NAMES, fields, strict=True)) for fields in (expected, ("3", "4"))]


@pytest.mark.parametrize("delimiter", ["\t", ",", "|", "::"])
def test_a_quote_is_a_letter_in_published_files_and_between_tabs(delimiter):
    body = f'a{delimiter}b\n"1{delimiter}2"\n'
    assert parsed(body, delimiter, quoted=delimiter == "\t") == [{"a": '"1', "b": '2"'}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('"1\n1",2\n3\n', r"line 4: number of fields is 1; expected 2 \(a, b\), separated by commas"),
        ('1,2\n"3,4\n5,6', r"line 3: cannot be parsed \(unexpected end of data\)"),
        ('1,2\n"3"4,5', r"line 3: cannot be parsed \(',' expected after '\"'\)"),
        ('"1",2\na,b\n3,4\n', "line 3: the header again; expected it in line 1 only"),
        ("1,2,3\n", r"line 2: number of fields is 3; expected 2 \(a, b\), separated by commas"),
        ("", "no rows below the header"),
    ],
)
def test_a_mistake_names_the_line_in_which_its_row_begins(body, message):
    with pytest.raises(UserError, match=f"^x.csv(, |: ){message}$"):
        parsed(f"a,b\n{body}")


def test_a_header_may_be_quoted():
    assert text.heading(text.user_text("x", b'"a,b";c\n'), ";") == ["a,b", "c"]
    assert text.heading(text.user_text("x", b'"a\tb"\n'), "\t") == ['"a', 'b"']
    with pytest.raises(UserError, match=r"^x, line 1: cannot be parsed"):
        text.heading(text.user_text("x", b'"a;b\n'), ";")


def test_text_that_is_not_utf8_names_its_line_with_and_without_quotes():
    for quote in (b"", b'"'):
        file = text.File("x", b"a,b\n" + quote + b"1" + quote + b",2\n\xe9,3\n")
        with pytest.raises(UserError, match=r"^x, line 3: not UTF-8 text$"):
            text.parse(file, dict.fromkeys(NAMES, "text"), ",", "a,b", quoted=True)
