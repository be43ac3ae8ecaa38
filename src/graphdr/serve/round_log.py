"""A log of served rounds that ``graphdr advise --log`` and ``graphdr.advise.logs`` read as it is."""

import csv
import io
import math
import os
import warnings
from collections.abc import Iterable
from mmap import ACCESS_READ, mmap
from os import PathLike
from typing import NamedTuple

from graphdr.core.errors import UserError
from graphdr.serve.sources import Name, check_names

COLUMNS = ("candidates", "action", "reward", "propensity")
SEPARATOR = "|"  # between candidates
SMALLEST = 1e-12  # propensity that readers accept: they divide by it


class Choice(NamedTuple):
    """An arm, or the number of a context, and the probability with which the policy took it."""

    arm: Name
    propensity: float


class RoundLog:
    """Write rounds to a CSV file: the candidates, the arm that was played, its probability, and its reward.

    A round is one line, which is in the file when ``write`` returns: a killed process loses none. An existing file
    is continued. One process writes to a file at a time.

    Parameters
    ----------
    path : str or path
        The file. It has the columns ``candidates`` (joined by "|"), ``action``, ``reward`` and ``propensity``.

    See Also
    --------
    graphdr.GraphDRLinUCB : Its ``choose`` returns an arm with its propensity.
    graphdr.ips : Estimates from such rounds, in arrays.

    Examples
    --------
    >>> ring = graphdr.from_edges({"source": list("abcdef"), "target": list("bcdefa")})
    >>> policy = graphdr.GraphDRLinUCB(explore=0.1, random_state=0).fit(ring)
    >>> with graphdr.RoundLog("rounds.csv") as log:
    ...     candidates = ["a", "c", "e"]
    ...     choice = policy.choose(candidates)
    ...     reward = 1.0  # the user clicked
    ...     policy.update(choice.arm, reward)
    ...     log.write(candidates, choice, reward)
    >>> print(open("rounds.csv").read().strip())
    candidates,action,reward,propensity
    a|c|e,c,1.0,0.3333333333333333
    """

    def __init__(self, path: str | PathLike[str]):
        self.path = os.fspath(path)
        self._file = open(self.path, "a+b")  # noqa: SIM115 - closed by close
        try:
            self._continue()
        except BaseException:
            self._file.close()
            raise

    def write(self, candidates: Iterable[Name], choice: Choice | tuple[Name, float], reward: float) -> None:
        """Append a round.

        Parameters
        ----------
        candidates : iterable of str or int
            All arms that could have been played, in any order. If these were all arms, ``policy.names``.
        choice : Choice
            The arm that was played and its probability, as ``choose`` returned them.
        reward : float
            Its reward. Rewards that come late are written late: the order of rounds is that of the rewards.

        Raises
        ------
        ValueError
            A name that is ambiguous in the file, an arm that was not offered, a reward that is not finite, or a
            propensity that is not above 0 and at most 1. Nothing is written then.
        """
        names = [_as_text(name) for name in check_names(candidates)]
        arm, propensity = choice
        (action,) = (_as_text(name) for name in check_names([arm]))
        if len({*names}) < len(names):
            raise ValueError("two candidates are written alike")
        if action not in names:
            raise ValueError(f"arm {arm!r} is not among its candidates")
        reward, propensity = float(reward), float(propensity)
        if not math.isfinite(reward):
            raise ValueError(f"the reward is {reward}; rewards are finite numbers")
        if not SMALLEST <= propensity <= 1:
            raise ValueError(f"the propensity is {propensity}; it is a probability, above 0 and at most 1")
        self._append([SEPARATOR.join(names), action, reward, propensity])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "RoundLog":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _continue(self) -> None:
        """Write the header of a new file; check that of an old one, and cut off an unfinished last line."""
        self._file.seek(0)
        first, header = self._file.readline(), f"{','.join(COLUMNS)}\n".encode()
        if first.replace(b"\r\n", b"\n") != header:
            if not header.startswith(first):
                raise UserError(f"{self.path}: no log of rounds; its first line is not {','.join(COLUMNS)}")
            self._file.truncate(0)
            self._append(COLUMNS)
        with mmap(self._file.fileno(), 0, access=ACCESS_READ) as content:
            end, size = content.rfind(b"\n") + 1, len(content)
        if end < size:
            warnings.warn(f"{self.path}: the last line was cut off, and is left out", stacklevel=3)
            self._file.truncate(end)

    def _append(self, fields: Iterable[object]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(fields)
        self._file.write(line.getvalue().encode())
        self._file.flush()


def _as_text(name: Name) -> str:
    """Return a name as text; refuse one that a reader would split, trim or drop."""
    text = str(name)
    if not text or text != text.strip() or SEPARATOR in text or len(text.splitlines()) > 1:
        raise ValueError(f"arms of a log have no {SEPARATOR!r}, line breaks or blanks around them; one is {name!r}")
    return text
