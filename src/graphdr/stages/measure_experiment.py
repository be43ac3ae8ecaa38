"""Turn the runs and facts of one experiment into the tidy table and its regret curves."""

import pandas as pd

from graphdr import io, measure


def main(input, output, params):
    finals, curves = {}, []
    for method, files in input.runs.items():
        runs = pd.concat([io.read("runs", path).to_pandas() for path in files], ignore_index=True)
        finals[method] = measure.final_values(runs)
        curves.append(measure.curve(runs).assign(method=method))
    facts = pd.concat([io.read("facts", path).to_pandas() for path in input.facts], ignore_index=True)
    table = pd.concat([measure.measure(finals, params.against), facts.assign(n=1)], ignore_index=True)
    io.write("measurements", table.assign(predictor=None), output.measurements)
    io.write("curves", pd.concat(curves, ignore_index=True), output.curves)
    print(f"{len(table)} measurements of {len(finals)} methods")
