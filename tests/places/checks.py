"""Build the tiny configuration in odd places: the same files everywhere. ``make test-places``."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.places.places import LONG, PLACES, Missing, Place
from tests.support.project import lay_out
from trust.checkout import contents, last_lines
from trust.determinism import OPEN, differences, resting_on


def build(place: Place) -> Path:
    """Build in a place; a failure ends the trial with what was said last."""
    kept = {name: value for name, value in os.environ.items() if name not in place.unset}
    command = [*place.prefix, place.python, "-m", "snakemake", "--cores", "2", *place.arguments]
    done = subprocess.run(
        command,
        cwd=place.checkout,
        env=kept | place.variables,
        umask=place.umask,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        sys.exit(f"error: the build in {place.checkout} failed\n{last_lines(done, 40)}")
    return place.checkout


def compare(first: Path, place: Place) -> str:
    """Compare all files with those of a usual build; with other libraries, not those of a basis that they decide."""
    left_out = resting_on(first, OPEN) if place.other_libraries else set()
    expected, found = (
        {name: text for name, text in contents(folder).items() if name not in left_out}
        for folder in (first, place.checkout)
    )
    if names := differences(expected, found):
        sys.exit(f"error: not the same in {place.checkout}: {', '.join(names)}")
    return f"{len(found)} files the same" + f", {len(left_out)} behind {OPEN} not compared" * bool(left_out)


def main() -> None:
    """Build in every place that can be had; with ``--short``, not where packages are installed first."""
    names = [name for name in PLACES if name not in LONG or "--short" not in sys.argv]
    with tempfile.TemporaryDirectory(prefix="graphdr-places-") as root:
        os.chmod(root, 0o755)  # another user comes here, too
        first = build(Place(lay_out(Path(root) / "first")))
        for number, name in enumerate(names):
            begin = time.monotonic()
            folder = Path(root) / str(number)
            folder.mkdir()
            try:
                place = PLACES[name](folder)
                build(place)
            except Missing as reason:
                print(f"skipped: {name}: {reason}", flush=True)
                continue
            print(f"ok: {name}: {compare(first, place)} ({time.monotonic() - begin:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
