"""Turn the runs and facts of one batch into the tidy table and its regret curves."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.panels.runs import Columns, read_runs
from graphdr.scores import measure
from graphdr.theory import bound_checks

if TYPE_CHECKING:
    import pandas as pd


class Input(NamedTuple):
    runs: list[str]
    facts: str


class Output(NamedTuple):
    measurements: str = paths.measurements
    curves: str = paths.curves


class Params(NamedTuple):
    sources: Mapping[str, list[tuple[str, str, str, str]]]  # by method: problem, file, and what both are called there
    against: str  # method that paired differences are taken against
    radii: dict[str, str]  # rule of every method whose radius is a theorem's
    problems: dict[str, dict[str, Any]]  # constants of the theorems, if any
    grids: dict[str, dict[str, int]]  # methods of a fixed k, with it, beside every method of an adaptive k


def main(input: Input, output: Output, params: Params) -> None:
    import pandas as pd

    finals, curves, measured = {}, [], []
    played = {path: read_runs(path) for path in input.runs}
    for method, sources in params.sources.items():
        runs = _as_frame({name: played[path].get((of, problem)) for name, path, problem, of in sources})
        if len(runs):  # a method may have no data to project on
            if method in params.radii:
                runs, checked = bound_checks.check(runs, params.problems, params.radii[method])
                measured.append(bound_checks.measure(checked).assign(method=method))
            finals[method] = measure.final_values(runs)
            curves.append(measure.curve(runs).assign(method=method))
    facts = io.read("facts", input.facts).to_pandas()
    if finals:
        measured.insert(0, measure.measure(finals, params.against, params.grids))
    table = pd.concat([*measured, facts.assign(n=1, draw=0, method=None, sem=None)], ignore_index=True)
    io.write("measurements", table.assign(predictor=None), output.measurements)
    io.write("curves", pd.concat(curves, ignore_index=True) if curves else io.nothing("curves"), output.curves)
    print(f"{len(table)} measurements of {len(finals)} methods")


def _as_frame(runs: dict[str, Columns | None]) -> "pd.DataFrame":
    """Put the runs of a method on several problems under each other."""
    import pandas as pd

    parts = [pd.DataFrame(columns).assign(problem=problem) for problem, columns in runs.items() if columns]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
