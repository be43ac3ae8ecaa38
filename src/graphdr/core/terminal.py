"""Text for people: the terminal's width and colours, numbers, sizes and ages in words, and tables, also in Markdown."""

import json
import math
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from graphdr.core.errors import elide

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
NO_TERMINAL = 120  # columns where output goes to a file or a pipe
GAP = "  "
NARROWEST, LONGEST = 12, 40  # columns that a wrapped text keeps: at least, and for a long word at most
FIRST_PROGRESS, PROGRESS_EVERY = 5, 10  # seconds before the first line of progress and between lines, without terminal
OURS = f"\033<{os.urandom(8).hex()}>"  # start of our own colours until they are printed; no file can contain it
# Characters that move the cursor, change colours or reverse the order of letters; not line breaks and tabs.
CONTROLS = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
UNITS = (("y", 31_557_600), ("mo", 2_629_800), ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))

Answer = tuple[int, object, Callable[[], list[str]]]  # of a command: exit code, JSON for scripts, and its text


def width() -> int:
    """Return the columns of the terminal; ``COLUMNS`` overrides it."""
    return max(shutil.get_terminal_size((NO_TERMINAL, 24)).columns, 20)


def coloured() -> bool:
    """Return whether to print colours: on a terminal, unless NO_COLOR is set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str) -> str:
    """Colour a text where colours are wanted."""
    if not text or not styles or not coloured():
        return text
    return f"{OURS}[{';'.join(CODES[style] for style in styles)}m{text}{OURS}[0m"


def unpainted(text: str) -> str:
    """Remove the colours of a text."""
    return re.sub(rf"{OURS}\[[0-9;]*m", "", text)


def printable(text: str) -> str:
    """Replace control characters that came from a file or its name; keep our own colours."""
    return "\033".join(CONTROLS.sub("\N{REPLACEMENT CHARACTER}", part) for part in text.split(OURS))


def number(value: object, digits: int = 6) -> str:
    """Format a value of a table: numbers briefly, lists by their first entries, a missing value as a dash."""
    if value is None or value != value:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        first = ", ".join(number(part, 3) for part in value[:3])
        return f"[{first}, … {len(value)} values]" if len(value) > 3 else f"[{first}]"
    return " ".join(str(value).split())


def with_error(value: float | None, sem: float | None, digits: int = 5) -> str:
    """Format a mean and its standard error, if there is one."""
    return number(value, digits) + (f" ± {number(sem, 2)}" if sem is not None and sem > 0 else "")


def size(count: int) -> str:
    """Format a number of bytes."""
    power = min((len(str(count)) - 1) // 3, 3)
    amount, unit = count / 1000**power, ("B", "kB", "MB", "GB")[power]
    return f"{amount:.0f} {unit}" if not power or amount >= 100 else f"{amount:.1f} {unit}"


def age(seconds: float) -> str:
    """Format a duration in its largest unit."""
    name, unit = next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])
    return f"{max(seconds, 0) / unit:.0f} {name}"


def plural(count: int, noun: str) -> str:
    """Format a count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


class Status:
    """Progress: on a terminal one line that is overwritten, elsewhere a line now and then."""

    def __init__(self) -> None:
        self.next = time.monotonic() + FIRST_PROGRESS  # an early error stays the only line

    def __call__(self, text: str) -> None:
        """Show a text; an empty one clears the line."""
        text = printable(text)
        if sys.stderr.isatty():
            print(f"\r\033[K{elide(text, width() - 1)}", end="", file=sys.stderr, flush=True)
        elif text and time.monotonic() >= self.next:
            self.next = time.monotonic() + PROGRESS_EVERY
            print(text, file=sys.stderr, flush=True)

    def keep(self, text: str) -> None:
        """Print a text that stays, such as a first answer."""
        self("")
        print(printable(text), file=sys.stderr, flush=True)


def wrapped(text: str, columns: int, first: str = "", rest: str = "", most: int = 5) -> list[str]:
    """Wrap a text into a few lines at most; ``first`` and ``rest`` are the prefixes of the lines."""
    width = max(columns, len(rest) + 30)
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, max_lines=most, placeholder=" …")


def figures(head: Sequence[str]) -> list[bool]:
    """Return the alignment of a table with names in its first column and numbers in the others."""
    return [False, *[True] * (len(head) - 1)]


def table(
    head: Sequence[str], body: Sequence[Sequence[str]], right: Sequence[bool], columns: int, keys: int = 1
) -> list[str]:
    """Lay out an aligned table in a number of columns of the terminal.

    Texts wrap if needed; what still does not fit follows in a further block that repeats the first ``keys`` columns.
    ``right`` marks the columns of numbers, whose headings alone may wrap. A cell may have several lines.
    """
    rows = [head, *body]
    widths = _widths(list(zip(*rows, strict=True)), right, columns)
    lines: list[str] = []
    for block in _blocks(widths, columns, keys):
        lines += [""] if lines else []
        for number, row in enumerate(rows):
            cells = [_lines(row[column], widths[column]) for column in block]
            for parts in zip_longest(*cells, fillvalue=""):
                texts = []
                for column, part in zip(block, parts, strict=True):
                    texts.append(part.rjust(widths[column]) if right[column] else part.ljust(widths[column]))
                line = GAP.join(texts).rstrip()
                lines.append(line if number else paint(line, "bold"))
    return lines


def _lines(text: str, columns: int) -> list[str]:
    """Return the wrapped lines of a cell."""
    return [part for line in text.split("\n") for part in textwrap.wrap(line, columns) or [""]]


def _widths(cells: Sequence[Sequence[str]], right: Sequence[bool], columns: int) -> list[int]:
    """Narrow the widest columns, one at a time, until the table fits or a word or number would be cut."""
    widths, least = [], []
    for column, is_number in zip(cells, right, strict=True):
        lines = [len(line) for cell in column for line in cell.split("\n")]
        longest = max((len(word) for cell in column for word in cell.split()), default=0)
        widths.append(max(lines))
        if is_number:  # whose heading alone may wrap
            least.append(max(longest, *lines[1 + column[0].count("\n") :], 0))
        else:
            least.append(max(NARROWEST, min(longest, LONGEST)))
    while sum(widths) + len(GAP) * (len(widths) - 1) > columns:
        wide = [place for place in range(len(widths)) if widths[place] > least[place]]
        if not wide:
            break
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _blocks(widths: list[int], columns: int, keys: int) -> list[list[int]]:
    """Split columns into blocks that fit, each with the key columns first and at least one other."""
    fixed = list(range(min(keys, len(widths))))
    blocks = [[*fixed]]
    for place in range(len(fixed), len(widths)):
        used = sum(widths[column] + len(GAP) for column in blocks[-1]) + widths[place]
        if blocks[-1] != fixed and used > columns:
            blocks.append([*fixed])
        blocks[-1].append(place)
    return blocks


def escape(text: str) -> str:
    """Escape a text for a cell of a table."""
    return text.replace("\\", "\\\\").replace("|", "\\|")


def pipe_table(head: list[str], body: list[list[str]]) -> list[str]:
    """Return the lines of a table, the first column left and the others right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(texts)} |" for texts in (head, rule, *body)]


def as_json(answer: object) -> str:
    """Return an answer as JSON, records as objects; numbers that JSON does not know are null."""
    return json.dumps(_plain(answer), indent=1, default=str).replace("\x7f", "\\u007f")  # JSON escapes the others


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
