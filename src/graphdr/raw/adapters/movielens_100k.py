"""MovieLens 100k as GroupLens publishes it: u.data, titles and genre flags in u.item, and users in u.user."""

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.raw.sheets import Sheet
from graphdr.raw.tables import Tables, ratings
from graphdr.raw.text import Raw, load, parse

ITEM = {"item": "digits", "title": "text", "release": None, "video release": None, "url": None}
USER = {"user": "digits", "age": "count", "gender": "gender", "occupation": "key", "zip code": None}
GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)


def read(raw: Raw) -> Tables:
    """Read ratings of movies; the group of a movie is the first of its genres in alphabetical order."""
    return ratings(raw, "\t", items=_items, people=lambda raw: parse(load(raw, "users"), USER, "|"))


def _items(raw: Raw) -> Sheet:
    sheet = parse(load(raw, "items", "latin-1"), ITEM | dict.fromkeys(GENRES, "flag"), "|")
    group = pa.nulls(sheet.columns.num_rows, pa.string())
    for genre in reversed(GENRES):
        group = pc.if_else(pc.equal(sheet.columns[genre], "1"), genre, group)
    return sheet._replace(columns=sheet.columns.select(["item", "title"]).append_column("group", group))
