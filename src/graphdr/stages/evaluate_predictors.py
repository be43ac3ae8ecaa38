"""Score facts as predictors of a measure over the pooled problems of several experiments."""

import pandas as pd

from graphdr import io, selection


def main(input, output, params):
    parts = [io.read_frame("measurements", paths).assign(experiment=name) for name, paths in input.measurements.items()]
    table = pd.concat(parts, ignore_index=True).query("draw == 0")
    key, rows = ["experiment", "problem"], []
    for instance, part in table.groupby("instance"):
        known = part[part["method"].isna() | (part["method"] == params.predictor_method)]
        wide = known.pivot_table(index=key, columns="quantity", values="value", sort=False)
        measured = part[(part["method"] == params.method) & (part["quantity"] == params.target)]
        target = measured.set_index(key)["value"]
        group = target.index.get_level_values("problem").map(params.groups).to_numpy()
        facts = wide.reindex(index=target.index)
        for predictor, columns in params.predictors.items():
            values = facts.reindex(columns=columns).to_numpy(float)
            values = values[:, 0] if len(columns) == 1 else values
            pool = selection.Pool(values, target.to_numpy(), group, params.signs[predictor])
            for score in params.scores:
                value, n = selection.evaluate(score, pool)
                rows.append((params.label, instance, 0, None, predictor, score, value, None, n))
    columns = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]
    io.write("measurements", pd.DataFrame(rows, columns=columns), output.evaluation)
    print(f"{len(rows)} scores of {len(params.predictors)} predictors")
