"""Turn the runs and facts of one batch into the tidy table and its regret curves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphdr.cache import io, paths
from graphdr.scores import chosen, measure
from graphdr.store.problems import StoredRuns, final_regrets, read_runs
from graphdr.theory import bound_checks
from graphdr.theory.constants import Constants

if TYPE_CHECKING:
    import pandas as pd


class Input(NamedTuple):
    runs: list[str]
    facts: str
    chosen: Sequence[str] = ()  # measurements of the grids that settings were chosen from


class Output(NamedTuple):
    measurements: str = paths.measurements
    curves: str = paths.curves


class Params(NamedTuple):
    runs: Mapping[str, list[tuple[str, StoredRuns]]]  # by method, with the problem that they are on
    against: str  # method that paired differences are taken against
    radii: dict[str, str]  # rule of every method with the radius of a theorem
    constants: dict[str, Constants]  # by problem, if there is such a method
    grids: dict[str, dict[str, int]]  # by method with an adaptive k: methods with a fixed k, and this k
    variants: Sequence[tuple[str, str, dict[str, float]]] = ()  # of a grid of settings: name, method and setting
    chosen: Sequence[tuple[str, str, str]] = ()  # problem, method, and the problem that its settings were chosen on
    ranked: Sequence[str] = ()  # methods that compete for the best


def main(input: Input, output: Output, params: Params) -> None:
    import pandas as pd

    facts = io.read("facts", input.facts).to_pandas().assign(n=1, draw=0, method=None, sem=None)
    curves: list[pd.DataFrame] = []  # of a grid of settings: too many to look at
    if params.variants:
        runs = params.runs.items()
        finals = final_regrets([(problem, method, stored) for method, on in runs for problem, stored in on])
        measured = [chosen.regrets(finals), chosen.best(finals, params.variants)]
        print(f"{len(finals)} runs with {len(params.variants)} settings")
    else:
        measured = _measure(input, params, curves)
    table = pd.concat([*measured, facts], ignore_index=True)
    io.write("measurements", table.assign(predictor=None), output.measurements)
    io.write("curves", pd.concat(curves, ignore_index=True) if curves else io.nothing("curves"), output.curves)
    print(f"{len(table)} measurements")


def _measure(input: Input, params: Params, curves: "list[pd.DataFrame]") -> "list[pd.DataFrame]":
    """Measure every method on all problems, and add its regret curves."""
    import pandas as pd

    stored = {path: read_runs(path) for path in input.runs}
    finals, measured = {}, []
    for method, sources in params.runs.items():
        parts = []
        for problem, source in sources:
            if columns := stored[source.path].get((source.method, source.problem)):
                parts.append(pd.DataFrame(columns).assign(problem=problem))
        if not parts:  # a method may have no data to project on
            continue
        runs = pd.concat(parts, ignore_index=True)
        if method in params.radii:
            runs, checked = bound_checks.check(runs, params.constants, params.radii[method])
            measured.append(bound_checks.measure(checked).assign(method=method))
        finals[method] = measure.final_values(runs)
        curves.append(measure.curve(runs).assign(method=method))
    if finals:
        measured.insert(0, measure.measure(finals, params.against, params.grids))
    if params.ranked:
        measured.append(chosen.behind(finals, params.ranked))
        settings = io.read_frame("measurements", list(input.chosen)).drop(columns="predictor")
        settings = settings[settings["quantity"].isin(chosen.CHOSEN)]
        for problem, method, grid in params.chosen:
            rows = settings[(settings["problem"] == grid) & (settings["method"] == method)]
            measured.append(rows.assign(problem=problem))
    return measured
