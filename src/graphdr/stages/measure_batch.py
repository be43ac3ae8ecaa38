"""Turn the runs and facts of one batch into the tidy table and its regret curves."""

import pandas as pd

from graphdr.cache import io
from graphdr.scores import measure
from graphdr.theory import bound_checks


def main(input, output, params):
    finals, curves, measured = {}, [], []
    for method, path in input.runs.items():
        runs = io.read("runs", path).to_pandas()
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
