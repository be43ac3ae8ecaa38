"""Turn the runs and facts of one batch into the tidy table and its regret curves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphdr.cache import io, paths
from graphdr.scores import chosen, measure
from graphdr.store.rows import Columns
from graphdr.store.runs import read_runs
from graphdr.theory import bound_checks
from graphdr.theory.bound_checks import TheoremConstants

if TYPE_CHECKING:
    import pandas as pd

Runs = dict[str, dict[tuple[str, str], Columns]]  # by file, method and problem


class Input(NamedTuple):
    runs: list[str]
    facts: str
    chosen: Sequence[str] = ()  # measurements of the grids that settings were chosen from


class Output(NamedTuple):
    measurements: str = paths.measurements
    curves: str = paths.curves


class RunSource(NamedTuple):
    """Where the runs of a method on a problem are stored, and under which names."""

    problem: str
    path: str
    stored_problem: str
    stored_method: str


class Params(NamedTuple):
    sources: Mapping[str, list[RunSource]]  # by method
    against: str  # method that paired differences are taken against
    radii: dict[str, str]  # rule of every method with the radius of a theorem
    constants: dict[str, TheoremConstants]  # by problem, if there is such a method
    grids: dict[str, dict[str, int]]  # by method with an adaptive k: methods with a fixed k, and this k
    variants: Sequence[tuple[str, str, dict[str, float]]] = ()  # of a grid of settings: name, method and setting
    chosen: Sequence[tuple[str, str, str]] = ()  # problem, method, and the problem that its settings were chosen on
    ranked: Sequence[str] = ()  # methods that compete for the best


def main(input: Input, output: Output, params: Params) -> None:
    import pandas as pd

    stored = {path: read_runs(path) for path in input.runs}
    facts = io.read("facts", input.facts).to_pandas()
    if params.variants:
        _measure_grid(stored, facts, output, params)
        return
    finals, curves, measured = {}, [], []
    for method, sources in params.sources.items():
        runs = _runs_of(stored, sources)
        if runs.empty:  # a method may have no data to project on
            continue
        if method in params.radii:
            runs, checked = bound_checks.check(runs, params.constants, params.radii[method])
            measured.append(bound_checks.measure(checked).assign(method=method))
        finals[method] = measure.final_values(runs)
        curves.append(measure.curve(runs).assign(method=method))
    if finals:
        measured.insert(0, measure.measure(finals, params.against, params.grids))
    if params.ranked:
        measured += [chosen.behind(finals, params.ranked), _settings(input, params)]
    table = pd.concat([*measured, facts.assign(n=1, draw=0, method=None, sem=None)], ignore_index=True)
    io.write("measurements", table.assign(predictor=None), output.measurements)
    io.write("curves", pd.concat(curves, ignore_index=True) if curves else io.nothing("curves"), output.curves)
    print(f"{len(table)} measurements of {len(finals)} methods")


def _measure_grid(stored: Runs, facts: "pd.DataFrame", output: Output, params: Params) -> None:
    """Measure the regret of every setting, and choose one for every method; curves would be too many to look at."""
    import pandas as pd

    ends = []
    for method, sources in params.sources.items():
        for source in sources:
            if columns := stored[source.path].get((source.stored_method, source.stored_problem)):
                last = columns["t"] == columns["t"].max()
                end = pd.DataFrame({key: columns[key][last] for key in ("instance", "draw", "seed", "regret")})
                ends.append(end.assign(method=method, problem=source.problem))
    finals = pd.concat(ends, ignore_index=True).query("draw == 0")
    parts = [chosen.regrets(finals), chosen.best(finals, params.variants), facts.assign(n=1, draw=0, method=None)]
    io.write("measurements", pd.concat(parts, ignore_index=True).assign(predictor=None), output.measurements)
    io.write("curves", io.nothing("curves"), output.curves)
    print(f"{len(finals)} runs with {len(params.variants)} settings")


def _settings(input: Input, params: Params) -> "pd.DataFrame":
    """Return the settings that methods were played with, as chosen on other seeds."""
    import pandas as pd

    rows = io.read_frame("measurements", list(input.chosen))
    rows = rows[rows["quantity"].isin(chosen.CHOSEN)]
    parts = []
    for problem, method, grid in params.chosen:
        parts.append(rows[(rows["problem"] == grid) & (rows["method"] == method)].assign(problem=problem))
    return pd.concat(parts, ignore_index=True).drop(columns="predictor")


def _runs_of(stored: Runs, sources: list[RunSource]) -> "pd.DataFrame":
    """Return the runs of a method on several problems as one frame."""
    import pandas as pd

    parts = []
    for source in sources:
        if columns := stored[source.path].get((source.stored_method, source.stored_problem)):
            parts.append(pd.DataFrame(columns).assign(problem=source.problem))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
