"""Pages that are written by code, whole or between two markers: <!-- name --> and <!-- /name -->."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from graphdr.core import atomic
from graphdr.core.errors import UserError


def between_markers(text: str, name: str, inner: str, page: str) -> str:
    """Replace what stands between the two markers of this name."""
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise UserError(f"{page}: the markers {first} and {last} are not both there, in this order")
    return f"{before}{first}\n{inner}\n{last}{after}"


def write_page(page: str, text: Callable[[], str]) -> int:
    """Write a page of docs/ from a build; without one, say so in one line and change nothing."""
    os.chdir(Path(__file__).parent.parent)
    try:
        atomic.write_text(text(), page)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Wrote {page}")
    return 0
