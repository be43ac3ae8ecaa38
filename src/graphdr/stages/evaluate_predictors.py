"""Score facts as predictors of a measure over the pooled problems of several experiments."""

from typing import NamedTuple

from graphdr.cache import io, paths
from graphdr.scores import predictor_scores

KEY = ["experiment", "problem"]


class Input(NamedTuple):
    measurements: dict[str, list[str]]  # by experiment


class Output(NamedTuple):
    evaluation: str = paths.evaluation


class Params(NamedTuple):
    label: str
    method: str  # competitor whose gap to GraphDR is predicted
    target: str
    predictor_method: str
    predictors: dict[str, list[str]]
    means: list[str]
    scores: list[str]
    groups: dict[str, str]  # data set of every problem
    signs: dict[str, int]  # of what favours GraphDR


def main(input: Input, output: Output, params: Params) -> None:
    import pandas as pd

    parts = [io.read_frame("measurements", files).assign(experiment=name) for name, files in input.measurements.items()]
    table = pd.concat(parts, ignore_index=True).query("draw == 0")
    rows = []  # instance, predictor or fact, score or mean, its value, and the number of problems
    for instance, part in table.groupby("instance"):
        predicting = part[part["method"].isna() | (part["method"] == params.predictor_method)]
        facts = predicting.pivot_table(index=KEY, columns="quantity", values="value", sort=False)
        measured = part[(part["method"] == params.method) & (part["quantity"] == params.target)]
        target = measured.set_index(KEY)["value"]
        of_target = facts.reindex(index=target.index)
        dataset = of_target.index.get_level_values("problem").map(params.groups).to_numpy()
        for predictor, columns in params.predictors.items():
            values = of_target.reindex(columns=columns).to_numpy(float)
            values = values[:, 0] if len(columns) == 1 else values
            data = predictor_scores.PredictorData(values, target.to_numpy(), dataset, params.signs[predictor])
            for score in params.scores:
                rows.append((instance, predictor, score, *predictor_scores.evaluate(score, data)))
        datasets = facts.index.get_level_values("problem").map(params.groups).to_numpy()
        for name, of_dataset in facts.reindex(columns=params.means).groupby(datasets):
            for fact, values in of_dataset.items():
                rows.append((instance, f"{fact}_{name}", "mean", values.mean(), values.count()))
    scores = pd.DataFrame(rows, columns=["instance", "predictor", "quantity", "value", "n"])
    scores = scores.assign(problem=params.label, draw=0, method=None, sem=None)
    io.write("measurements", scores, output.evaluation)
    print(f"{len(rows)} scores of {len(params.predictors)} predictors")
