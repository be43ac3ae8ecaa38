"""Text for people: the terminal's width and colours, numbers, sizes and ages in words, and tables that fit."""

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

from graphdr.core.errors import elide

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
NO_TERMINAL = 120  # columns where output goes to a file or a pipe
GAP = "  "
NARROWEST, LONGEST = 12, 40  # columns that a wrapped text keeps: at least, and of a long word at most
PATIENCE, EVERY = 5, 10  # seconds before the first line of progress, and between two, where no terminal is
OURS = f"\033<{os.urandom(8).hex()}>"  # how a colour of ours begins until it is printed: no file can know it
# Characters that move the cursor, change colours or turn the order of letters around; not line breaks and tabs.
CONTROLS = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
UNITS = (("y", 31_557_600), ("mo", 2_629_800), ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))

Answer = tuple[int, object, Callable[[], list[str]]]  # of a command: exit code, JSON for scripts, what makes its text


def width() -> int:
    """Return the columns of the terminal; ``COLUMNS`` overrides it."""
    return max(shutil.get_terminal_size((NO_TERMINAL, 24)).columns, 20)


def coloured() -> bool:
    """Tell whether colours are wanted: on a terminal, unless NO_COLOR says otherwise."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str) -> str:
    """Colour a text, or leave it as it is where colours are not wanted."""
    if not text or not styles or not coloured():
        return text
    return f"{OURS}[{';'.join(CODES[style] for style in styles)}m{text}{OURS}[0m"


def unpainted(text: str) -> str:
    """Return a text without its colours."""
    return re.sub(rf"{OURS}\[[0-9;]*m", "", text)


def printable(text: str) -> str:
    """Return a text to print or to write into a page, without control characters that a file or its name brought."""
    return "\033".join(CONTROLS.sub("\N{REPLACEMENT CHARACTER}", part) for part in text.split(OURS))


def number(value: object, digits: int = 6) -> str:
    """Spell a value of a table: numbers briefly, lists by their first entries, nothing as a dash."""
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
    """Spell a mean and, where there is one, its standard error."""
    return number(value, digits) + (f" ± {number(sem, 2)}" if sem is not None and sem > 0 else "")


def size(count: int) -> str:
    """Spell a number of bytes."""
    power = min((len(str(count)) - 1) // 3, 3)
    amount, unit = count / 1000**power, ("B", "kB", "MB", "GB")[power]
    return f"{amount:.0f} {unit}" if not power or amount >= 100 else f"{amount:.1f} {unit}"


def age(seconds: float) -> str:
    """Spell how long ago something was, in its largest unit."""
    unit, length = next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])
    return f"{max(seconds, 0) / length:.0f} {unit}"


def plural(count: int, noun: str) -> str:
    """Spell a count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


class Status:
    """Say what is going on: on a terminal in one line that is written over, elsewhere in a line now and then."""

    def __init__(self) -> None:
        self.next = time.monotonic() + PATIENCE  # a mistake at the start stays the only line

    def __call__(self, text: str) -> None:
        """Say a text; an empty one clears the line."""
        text = printable(text)
        if sys.stderr.isatty():
            print(f"\r\033[K{elide(text, width() - 1)}", end="", file=sys.stderr, flush=True)
        elif text and time.monotonic() >= self.next:
            self.next = time.monotonic() + EVERY
            print(text, file=sys.stderr, flush=True)

    def keep(self, text: str) -> None:
        """Say a text that stays, such as a first answer."""
        self("")
        print(printable(text), file=sys.stderr, flush=True)


def exhausted(what: str, error: MemoryError | RecursionError) -> str:
    """Say in one line that the memory was not enough, or that something is nested too deeply."""
    if isinstance(error, RecursionError):
        return f"error: {what}: its input is nested too deeply to be read"
    return f"error: {what}: not enough memory; take fewer nodes or a part of the data, or a machine with more memory"


def wrapped(text: str, room: int, first: str = "", rest: str = "", most: int = 5) -> list[str]:
    """Wrap a text, each line behind its prefix, in a few lines at most."""
    return textwrap.wrap(
        text, max(room, len(rest) + 30), initial_indent=first, subsequent_indent=rest, max_lines=most, placeholder=" …"
    )


def figures(head: Sequence[str]) -> list[bool]:
    """Return which columns of a table are set to the right, where the first has names and the others figures."""
    return [False, *[True] * (len(head) - 1)]


def table(
    head: Sequence[str], body: Sequence[Sequence[str]], right: Sequence[bool], room: int, keys: int = 1
) -> list[str]:
    """Lay out an aligned table: texts wrap if need be; what still does not fit follows in a block of its own.

    ``right`` says which columns are numbers, of which only the heading may wrap. A cell may have several lines. Each
    block repeats the first ``keys`` columns.
    """
    widths = _widths(list(zip(head, *body, strict=True)), right, room)
    lines: list[str] = []
    for block in _blocks(widths, room, keys):
        lines += [""] if lines else []
        for at, row in enumerate((head, *body)):
            texts = _row([(row[column], widths[column], right[column]) for column in block])
            lines += texts if at else [paint(text, "bold") for text in texts]
    return lines


def _widths(columns: Sequence[Sequence[str]], right: Sequence[bool], room: int) -> list[int]:
    """Narrow the widest columns, one at a time, until a table fits or no word, nor any number, could stay whole."""
    widths = [max(len(line) for cell in column for line in cell.split("\n")) for column in columns]
    least = []
    for column, number in zip(columns, right, strict=True):
        longest = max((len(word) for cell in column for word in cell.split()), default=0)
        whole = max([longest, *(len(line) for cell in column[1:] for line in cell.split("\n"))])
        least.append(whole if number else max(NARROWEST, min(longest, LONGEST)))
    wide = range(len(widths))
    while sum(widths) + len(GAP) * (len(widths) - 1) > room and (wide := [at for at in wide if widths[at] > least[at]]):
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _blocks(widths: list[int], room: int, keys: int) -> list[list[int]]:
    """Deal columns into blocks that fit, each with the key columns first and at least one other."""
    fixed = list(range(min(keys, len(widths))))
    blocks = [[*fixed]]
    for at in range(len(fixed), len(widths)):
        used = sum(widths[column] + len(GAP) for column in blocks[-1]) + widths[at]
        if blocks[-1] != fixed and used > room:
            blocks.append([*fixed])
        blocks[-1].append(at)
    return blocks


def _row(cells: list[tuple[str, int, bool]]) -> list[str]:
    """Set cells beside each other, each a text, its width, and whether it is set to the right."""
    parts = [[p for line in text.split("\n") for p in textwrap.wrap(line, room) or [""]] for text, room, _ in cells]
    set_to = [(str.rjust if right else str.ljust, room) for _, room, right in cells]
    rows = zip_longest(*parts, fillvalue="")
    return [GAP.join(set_(text, room) for text, (set_, room) in zip(row, set_to, strict=True)).rstrip() for row in rows]


def as_json(answer: object) -> str:
    """Return an answer as JSON, records as objects; numbers that JSON does not know are null."""
    return json.dumps(_plain(answer), indent=1, default=str).replace("\x7f", "\\u007f")  # the rest is escaped by itself


def _plain(value):
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
