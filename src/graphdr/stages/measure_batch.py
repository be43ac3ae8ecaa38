"""Turn the runs and facts of one batch into the tidy table and its regret curves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.panels.runs import Columns, read_runs
from graphdr.scores import chosen, measure
from graphdr.theory import bound_checks

if TYPE_CHECKING:
    import pandas as pd

Played = dict[str, dict[tuple[str, str], Columns]]  # by file, method and problem


class Input(NamedTuple):
    runs: list[str]
    facts: str
    chosen: Sequence[str] = ()  # measurements of the grids that settings were chosen from


class Output(NamedTuple):
    measurements: str = paths.measurements
    curves: str = paths.curves


class Params(NamedTuple):
    sources: Mapping[str, list[tuple[str, str, str, str]]]  # by method: problem, file, and what both are called there
    against: str  # method that paired differences are taken against
    radii: dict[str, str]  # rule of every method whose radius is a theorem's
    problems: dict[str, dict[str, Any]]  # constants of the theorems, if any
    grids: dict[str, dict[str, int]]  # methods of a fixed k, with it, beside every method of an adaptive k
    variants: Sequence[tuple[str, str, dict[str, Any]]] = ()  # of a grid of settings: name in the runs, method, setting
    chosen: Sequence[
        tuple[str, str, str]
    ] = ()  # problem, method, and the problem of the grid that its settings are from
    ranked: Sequence[str] = ()  # methods of which one is the best


def main(input: Input, output: Output, params: Params) -> None:
    import pandas as pd

    finals, curves, measured = {}, [], []
    played = {path: read_runs(path) for path in input.runs}
    if params.variants:
        _measure_grid(played, io.read("facts", input.facts).to_pandas(), output, params)
        return
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
    if params.ranked:
        measured += [chosen.behind(finals, params.ranked), _settings(input, params)]
    table = pd.concat([*measured, facts.assign(n=1, draw=0, method=None, sem=None)], ignore_index=True)
    io.write("measurements", table.assign(predictor=None), output.measurements)
    io.write("curves", pd.concat(curves, ignore_index=True) if curves else io.nothing("curves"), output.curves)
    print(f"{len(table)} measurements of {len(finals)} methods")


def _measure_grid(played: Played, facts: "pd.DataFrame", output: Output, params: Params) -> None:
    """Measure the regret of every setting, and choose one for every method; curves would be too many to look at."""
    import pandas as pd

    ends = []
    for method, sources in params.sources.items():
        for problem, path, there, name in sources:
            if columns := played[path].get((name, there)):
                last = columns["t"] == columns["t"].max()
                ends.append(pd.DataFrame({key: columns[key][last] for key in ("instance", "draw", "seed", "regret")}))
                ends[-1] = ends[-1].assign(method=method, problem=problem)
    finals = pd.concat(ends, ignore_index=True).query("draw == 0")
    parts = [chosen.regrets(finals), chosen.best(finals, params.variants), facts.assign(n=1, draw=0, method=None)]
    table = pd.concat(parts, ignore_index=True)
    io.write("measurements", table.assign(predictor=None), output.measurements)
    io.write("curves", io.nothing("curves"), output.curves)
    print(f"{len(finals)} runs with {len(params.variants)} settings")


def _settings(input: Input, params: Params) -> "pd.DataFrame":
    """Return the settings that methods were played with, as chosen on other seeds."""
    import pandas as pd

    rows = io.read_frame("measurements", list(input.chosen))
    parts = [
        rows[rows["quantity"].isin(chosen.CHOSEN) & (rows["problem"] == grid) & (rows["method"] == method)].assign(
            problem=problem
        )
        for problem, method, grid in params.chosen
    ]
    return pd.concat(parts, ignore_index=True).drop(columns="predictor")


def _as_frame(runs: dict[str, Columns | None]) -> "pd.DataFrame":
    """Put the runs of a method on several problems under each other."""
    import pandas as pd

    parts = [pd.DataFrame(columns).assign(problem=problem) for problem, columns in runs.items() if columns]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
