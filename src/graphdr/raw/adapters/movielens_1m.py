"""MovieLens 1M as GroupLens publishes it: ratings.dat, titles and genres in movies.dat, and users in users.dat."""

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.raw.sheets import Sheet
from graphdr.raw.tables import Tables, ratings
from graphdr.raw.text import Raw, load, parse, within

MOVIES = {"item": "digits", "title": "text", "group": "text"}
USERS = {"user": "digits", "gender": "gender", "age": "count", "occupation": "count", "zip code": None}
OCCUPATIONS = (  # in the order of their codes; users without an occupation have the first
    *("other", "academic/educator", "artist", "clerical/admin", "college/grad student", "customer service"),
    *("doctor/health care", "executive/managerial", "farmer", "homemaker", "K-12 student", "lawyer", "programmer"),
    *("retired", "sales/marketing", "scientist", "self-employed", "technician/engineer", "tradesman/craftsman"),
    *("unemployed", "writer"),
)


def read(raw: Raw) -> Tables:
    """Read ratings of movies; the group of a movie is the first genre of its list."""
    return ratings(raw, "::", items=_items, people=_people)


def _items(raw: Raw) -> Sheet:
    sheet = parse(load(raw, "items", "latin-1"), MOVIES, "::")
    first = pc.list_element(pc.split_pattern(sheet.columns["group"], "|"), 0)
    return sheet._replace(columns=sheet.columns.set_column(2, "group", first))


def _people(raw: Raw) -> Sheet:
    sheet = parse(load(raw, "users"), USERS, "::")
    code = within(sheet, "occupation", 0, len(OCCUPATIONS) - 1).columns["occupation"]
    return sheet._replace(columns=sheet.columns.set_column(3, "occupation", pa.array(OCCUPATIONS).take(code)))
