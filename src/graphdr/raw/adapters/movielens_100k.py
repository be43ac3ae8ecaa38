"""MovieLens 100k as GroupLens publishes it: u.data, titles and genre flags in u.item, and users in u.user."""

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import quote
from graphdr.raw.sheets import Sheet, refuse
from graphdr.raw.tables import Tables, ratings
from graphdr.raw.text import Raw, among, load, parse

ITEM = {"item": "digits", "title": "text", "release": None, "video release": None, "url": None}
USER = {"user": "digits", "age": "count", "gender": "text", "occupation": "key", "zip code": None}
GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)


def read(raw: Raw) -> Tables:
    """Read ratings of movies; the group of a movie is the first of its genres in alphabetical order."""
    return ratings(raw, "\t", items=_items, people=_people)


def _items(raw: Raw) -> Sheet:
    sheet = parse(load(raw, "items", "latin-1"), ITEM | dict.fromkeys(GENRES, "text"), "|")
    group = pa.nulls(sheet.columns.num_rows, pa.string())
    for genre in reversed(GENRES):
        flag = _flag(sheet, genre)
        group = pc.if_else(pc.equal(flag, "1"), genre, group)
    return sheet._replace(columns=sheet.columns.select(["item", "title"]).append_column("group", group))


def _flag(sheet: Sheet, genre: str) -> pa.ChunkedArray:
    """Return the column of a genre, whose texts must be 0 or 1."""
    flag = sheet.columns[genre]
    bad = pc.invert(pc.is_in(flag, value_set=pa.array(["0", "1"])))
    refuse(sheet, bad, lambda row: f"flag {quote(flag[row].as_py())} of {genre} is not 0 or 1")
    return flag


def _people(raw: Raw) -> Sheet:
    return among(parse(load(raw, "users"), USER, "|"), "gender", ("F", "M"))
