"""Amazon ratings of 2014 without text: user, item, rating, time, separated by commas, no header."""

from graphdr.raw.tables import Tables, interactions
from graphdr.raw.text import Raw, load, parse, within

RATINGS = {"user": "key", "item": "key", "rating": "float", "timestamp": None}


def read(raw: Raw) -> Tables:
    """Read ratings of products, which have no titles here."""
    rows = within(parse(load(raw, "ratings"), RATINGS, ","), "rating", 1, 5).columns
    return interactions(rows["user"], rows["item"], rows["rating"].to_numpy())
