"""Compare two builds value by value: ``python -m trust.same_values OLD NEW [--renamed old=new …]``.

Tables are paired by their paths under results/, names that moved being given as ``--renamed``, and rows by all columns
that are not fractions. A fraction must be the same to the last bit. Rows that only the new build has are counted.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from graphdr.cache import paths
from tests.support import films
from trust import pipeline


def renamer(pairs: dict[str, str]):
    """Return a function that replaces whole names in a text, the longest first."""
    names = sorted(pairs, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![a-z0-9_]){re.escape(name)}(?![a-z0-9_])" for name in names) or r"(?!)")
    return lambda text: pattern.sub(lambda match: pairs[match[0]], text) if isinstance(text, str) else text


def frame(path: Path, rename) -> pd.DataFrame:
    """Read a table, its names renamed and its lists spelt out."""
    table = pq.read_table(path)
    columns = {}
    for field in table.schema:
        values = table[field.name].to_pylist()
        if pa.types.is_list(field.type):
            values = [None if row is None else " ".join(map(float.hex, row)) for row in values]
        elif pa.types.is_string(field.type):
            values = list(map(rename, values))
        columns[field.name] = pd.Series(values, dtype=float if pa.types.is_floating(field.type) else object)
    return pd.DataFrame(columns)


def same_table(old: Path, new: Path) -> bool:
    """Tell whether two files have the same columns and rows to the last bit, which is quick."""
    one, other = (pq.read_table(path).replace_schema_metadata() for path in (old, new))
    return one.schema.equals(other.schema) and all(
        a.equals(b) or a.to_numpy().tobytes() == b.to_numpy().tobytes() if pa.types.is_floating(a.type) else a.equals(b)
        for a, b in zip(one.columns, other.columns, strict=True)
    )


def differences(old: pd.DataFrame, new: pd.DataFrame) -> tuple[list[str], int]:
    """Return what differs, and how many rows only the new table has."""
    if missing := sorted(set(old.columns) - set(new.columns)):
        return [f"columns gone: {missing}"], 0
    keys = [name for name in old.columns if old[name].dtype == object]
    sides = []
    for side in (old, new):
        rows = side[list(old.columns)].copy()
        rows[keys] = rows[keys].astype(str)
        rows["#"] = rows.groupby(keys, sort=False).cumcount() if keys else np.arange(len(rows))
        sides.append(rows.set_index([*keys, "#"]))
    before, after = sides
    lost = before.index.difference(after.index)
    if len(lost):
        return [f"{len(lost)} rows gone, the first {lost[0]}"], 0
    after_old = after.loc[before.index]
    found = []
    for name in before.columns:
        one, other = before[name].to_numpy(float), after_old[name].to_numpy(float)
        wrong = ~((one == other) | (np.isnan(one) & np.isnan(other)))
        if wrong.any():
            at = int(np.argmax(wrong))
            found.append(f"{name}: {wrong.sum()} values, the first {before.index[at]}: {one[at]!r}, {other[at]!r}")
    return found, len(after) - len(before)


def compare(old: Path, new: Path, renamed: list[str] = [], moved: list[str] = []) -> int:  # noqa: B006
    """Print how the tables of two builds differ; return how many do, or are not there."""
    rename = renamer(dict(pair.split("=", 1) for pair in renamed))
    compared = rows = further = bad = 0
    for path in sorted((old / "results").rglob("*.parquet")):
        place = rename(path.relative_to(old).as_posix())
        for before, after in (pair.split("=", 1) for pair in moved):
            place = re.sub(before, after, place)
        if not (new / place).exists():
            print(f"{place}: not there")
            bad += 1
            continue
        compared, rows = compared + 1, rows + pq.read_metadata(path).num_rows
        if same_table(path, new / place):
            continue
        lines, more = differences(frame(path, rename), frame(new / place, lambda text: text))
        further, bad = further + more, bad + bool(lines)
        for line in lines:
            print(f"{place}: {line}")
    counts = f"{compared} tables of {rows:,} rows compared, {bad} differ or are not there"
    print(counts + f"; {further:,} rows are new" * bool(further))
    return bad


def try_it() -> int:
    """Build a small data set, and compare it with a copy: the same, but for the value that is then changed."""
    with tempfile.TemporaryDirectory() as name:
        one, other = Path(name, "one"), Path(name, "other")
        one.mkdir()
        pipeline.build(one, films.ratings())
        shutil.copytree(one, other)
        unlike = compare(one, other)
        table = pq.read_table(path := other / paths.runs(pipeline.BATCH, "plain"))
        place = table.column_names.index("regret")
        changed = np.nextafter(table["regret"].to_numpy(), np.inf)
        pq.write_table(table.set_column(place, table.schema.field(place), pa.array(changed)), path)
        seen = compare(one, other)
    print("seen as it is" if (unlike, seen) == (0, 1) else f"WRONG: {unlike} differ in a copy, {seen} after a change")
    return int((unlike, seen) != (0, 1))


def main() -> int:
    """Compare two builds; the exit code is 1 if they differ."""
    parser = argparse.ArgumentParser(prog="python -m trust.same_values", description=__doc__.splitlines()[0])
    parser.add_argument("old", nargs="?", type=Path)
    parser.add_argument("new", nargs="?", type=Path)
    parser.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW", help="a name that moved")
    parser.add_argument("--moved", action="append", default=[], metavar="OLD=NEW", help="part of a path that moved")
    parser.add_argument("--tiny", action="store_true", help="compare a small build with a copy, and a changed copy")
    arguments = parser.parse_args()
    if arguments.tiny:
        return try_it()
    if not arguments.new:
        parser.error("give two builds, or --tiny")
    return min(compare(arguments.old, arguments.new, arguments.renamed, arguments.moved), 1)


if __name__ == "__main__":
    sys.exit(main())
