"""Score facts as predictors of a measure over the pooled problems of several experiments."""

import pandas as pd

from graphdr.cache import io
from graphdr.scores import predictor_scores

KEY = ["experiment", "problem"]


def main(input, output, params):
    parts = [io.read_frame("measurements", paths).assign(experiment=name) for name, paths in input.measurements.items()]
    table = pd.concat(parts, ignore_index=True).query("draw == 0")
    rows = []
    for instance, part in table.groupby("instance"):
        predicting = part[part["method"].isna() | (part["method"] == params.predictor_method)]
        facts = predicting.pivot_table(index=KEY, columns="quantity", values="value", sort=False)
        measured = part[(part["method"] == params.method) & (part["quantity"] == params.target)]
        target = measured.set_index(KEY)["value"]
        scores = [*_scores(facts.reindex(index=target.index), target, params), *_means(facts, params)]
        rows += [(params.label, instance, 0, None, predictor, *score) for predictor, *score in scores]
    columns = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "n"]
    io.write("measurements", pd.DataFrame(rows, columns=columns).assign(sem=None), output.evaluation)
    print(f"{len(rows)} scores of {len(params.predictors)} predictors")


def _groups(frame, params):
    """Return the data set of every problem."""
    return frame.index.get_level_values("problem").map(params.groups).to_numpy()


def _scores(facts, target, params):
    """Yield (predictor, score, value, problems) over the problems that have the target."""
    group = _groups(facts, params)
    for predictor, columns in params.predictors.items():
        values = facts.reindex(columns=columns).to_numpy(float)
        values = values[:, 0] if len(columns) == 1 else values
        pool = predictor_scores.Pool(values, target.to_numpy(), group, params.signs[predictor])
        for score in params.scores:
            yield predictor, score, *predictor_scores.evaluate(score, pool)


def _means(facts, params):
    """Yield (fact_dataset, mean, value, problems) of the facts whose mean on every data set is wanted."""
    for dataset, wanted in facts.reindex(columns=params.means).groupby(_groups(facts, params)):
        for fact, values in wanted.items():
            yield f"{fact}_{dataset}", "mean", values.mean(), values.count()
