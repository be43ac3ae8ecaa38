"""Score facts as predictors of a measure over the pooled problems of several experiments."""

import pandas as pd

from graphdr import io
from graphdr.predictors import SCORES


def main(input, output, params):
    parts = [io.read_frame("measurements", paths).assign(experiment=name) for name, paths in input.measurements.items()]
    table = pd.concat(parts, ignore_index=True).query("draw == 0")
    rows = []
    for instance, part in table.groupby("instance"):
        wide = part.pivot_table(index=["experiment", "problem"], columns="quantity", values="value", sort=False)
        measured = part[(part["method"] == params.method) & (part["quantity"] == params.target)]
        target = measured.set_index(["experiment", "problem"])["value"]
        for predictor in params.predictors:
            for score in params.scores:
                value = SCORES[score](wide[predictor].loc[target.index].to_numpy(), target.to_numpy())
                rows.append((params.label, instance, 0, None, predictor, score, value, None, len(target)))
    columns = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]
    io.write("measurements", pd.DataFrame(rows, columns=columns), output.evaluation)
    print(f"{len(rows)} scores over {len(target)} pooled problems an instance")
