"""Amazon ratings of 2014 without text: user, item, rating, time, separated by commas, no header."""

from graphdr.raw.tables import Tables, ratings
from graphdr.raw.text import Raw


def read(raw: Raw) -> Tables:
    """Read ratings of products, which have no titles here."""
    return ratings(raw, ",", "key")
