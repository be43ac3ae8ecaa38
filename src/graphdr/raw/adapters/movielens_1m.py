"""MovieLens 1M as GroupLens publishes it: ratings.dat, and titles and genres in movies.dat."""

import pyarrow.compute as pc

from graphdr.raw.tables import Tables, ratings
from graphdr.raw.text import Raw, Sheet, load, parse

MOVIES = {"item": "digits", "title": "text", "group": "text"}


def read(raw: Raw) -> Tables:
    """Read ratings of movies; the group of a movie is the first genre of its list."""
    return ratings(raw, "::", about=_about)


def _about(raw: Raw) -> Sheet:
    sheet = parse(load(raw, "items", "latin-1"), MOVIES, "::")
    first = pc.list_element(pc.split_pattern(sheet.columns["group"], "|"), 0)
    return sheet._replace(columns=sheet.columns.set_column(2, "group", first))
