"""Parts of a page that are written by code stand between two markers: <!-- name --> and <!-- /name -->."""

from graphdr.core.errors import UserError


def between_markers(text: str, name: str, inner: str, page: str) -> str:
    """Replace what stands between the two markers of this name."""
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise UserError(f"{page}: the markers {first} and {last} are not both there, in this order")
    return f"{before}{first}\n{inner}\n{last}{after}"
