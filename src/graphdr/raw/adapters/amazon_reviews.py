"""Amazon reviews of 2014, one JSON object per line."""

import json
from array import array
from sys import intern
from typing import Any

import numpy as np
import pyarrow as pa

from graphdr.core.errors import UserError, quote
from graphdr.core.records import Json
from graphdr.raw.sheets import fault
from graphdr.raw.tables import Tables, interactions
from graphdr.raw.text import BOM, Raw, opened

EXPECTED = 'expected {"reviewerID": text, "asin": text, "overall": 1 to 5, …}'


def _distinct(pairs: list[tuple[str, Any]]) -> Json:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name is given twice")
    return members


DECODER = json.JSONDecoder(object_pairs_hook=_distinct)


def read(raw: Raw) -> Tables:
    """Read ratings of products, which have no titles here.

    Line by line, since Arrow's reader of JSON skips empty lines and can crash on a wrong one.
    """
    users: list[str] = []
    items: list[str] = []
    ratings = array("d")
    with opened(raw, "reviews") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                user, item, rating = _review(line if number > 1 else line.removeprefix(BOM))
            except ValueError as error:
                raise fault(raw.name("reviews"), number, f"{error}; {EXPECTED}") from None
            users.append(intern(user))  # one string for all reviews of a user
            items.append(intern(item))
            ratings.append(rating)
    if not users:
        raise UserError(f"{raw.name('reviews')}: empty file")
    return interactions(pa.array(users), pa.array(items), np.array(ratings))


def _review(line: bytes) -> tuple[Any, Any, Any]:
    """Return user, item and rating of a line, after checking their types."""
    try:
        review = DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(review, dict):
        raise ValueError("not a JSON object")
    user, item = review.get("reviewerID"), review.get("asin")
    rating: Any = review.get("overall")
    for name, text in (("reviewerID", user), ("asin", item)):
        if not isinstance(text, str) or not text or not text.isascii():
            raise ValueError(f"{name} is {quote(text)}")
    if type(rating) not in (int, float) or not 1 <= rating <= 5:
        raise ValueError(f"overall is {quote(rating)}")
    return user, item, rating
