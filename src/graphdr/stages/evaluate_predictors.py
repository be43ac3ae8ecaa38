"""Score facts as predictors of a measure over the pooled problems of several experiments."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.scores import predictor_scores

if TYPE_CHECKING:
    import pandas as pd

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


def _scores(facts: "pd.DataFrame", target: "pd.Series", params: Params) -> Iterator[tuple[Any, ...]]:
    """Yield (predictor, score, value, problems) over the problems that have the target."""
    group = facts.index.get_level_values("problem").map(params.groups).to_numpy()
    for predictor, columns in params.predictors.items():
        values = facts.reindex(columns=columns).to_numpy(float)
        values = values[:, 0] if len(columns) == 1 else values
        data = predictor_scores.PredictorData(values, target.to_numpy(), group, params.signs[predictor])
        for score in params.scores:
            yield predictor, score, *predictor_scores.evaluate(score, data)


def _means(facts: "pd.DataFrame", params: Params) -> Iterator[tuple[Any, ...]]:
    """Yield (fact_dataset, mean, value, problems) of the facts whose mean on every data set is wanted."""
    datasets = facts.index.get_level_values("problem").map(params.groups).to_numpy()
    for dataset, part in facts.reindex(columns=params.means).groupby(datasets):
        for fact, values in part.items():
            yield f"{fact}_{dataset}", "mean", values.mean(), values.count()
