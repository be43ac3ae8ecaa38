"""Factors: everything that a problem consists of."""

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model

from graphdr.plan.schema.values import (
    ABSENT,
    Block,
    Count,
    Distinct,
    Natural,
    Number,
    OpenShare,
    Positive,
    PositiveShare,
    Raw,
    Share,
)


class Factors(Block):
    """The factors of a problem. A block sets some of them; every problem needs a value for those without a default.

    Only some graph families use ``blocks`` to ``search``, and only methods with an adaptive k use ``k_grid``.
    """

    # Data and graph
    dataset: str = ABSENT
    family: str = ABSENT
    n: Annotated[int, Field(ge=3)] | Literal["all"] = ABSENT  # all: every node of a data set
    instances: Count = ABSENT
    sample: Natural = ABSENT  # nodes to draw from the graph of the data set; 0 takes all
    content: Literal["none", "ratings", "features", "text"] = ABSENT
    rank: Count = ABSENT
    user_columns: str = "none"  # a parquet file with further columns of the nodes
    holdout: Literal["none", "users"] = "none"  # users: one half makes the graph, the other half rewards
    components: Count = ABSENT  # columns of a basis
    solver: Literal["exact", "single"] = "exact"  # of eigenvectors
    # Graph families
    blocks: Count = ABSENT
    p_in: Share = ABSENT
    p_out: Share = ABSENT
    radius: Positive = ABSENT
    neighbours: Count = ABSENT
    transform: Literal["identity", "log1p", "presence"] = ABSENT
    group_weights: list[Number] = ABSENT
    support: Natural = ABSENT
    search: Literal["exact", "approximate"] = "exact"  # of the nearest neighbours
    # Changes of the graph
    shuffle: Literal[0, 1] = 0
    flip: Share = ABSENT
    swap: Share = ABSENT
    perturb: Share = ABSENT
    # Arms
    context: str = "node"
    bundle: Count = 1
    bundle_sampling: str = "uniform"
    bundle_count: Count = 1000
    segments: Count = 1
    segment_by: str = "ring"
    segment_coupling: Positive = 1
    segment_pattern: Literal["smooth", "rough"] = "smooth"
    segment_scale: Number = 1
    # Rewards
    reward: Literal["planted", "planted_first", "mean", "modal_group"] = ABSENT
    k_star: Count = ABSENT
    tail: Share = ABSENT
    noise: Number | Literal["resampled"] = ABSENT  # resampled: rewards are random ones of the ratings
    # Pilot
    pilot: Count = ABSENT
    pilot_source: str = "prefix"
    # Rounds
    candidates: str = ABSENT
    arms: Count = ABSENT
    horizon: Count = ABSENT
    first_seed: Natural = 0
    seeds: Count = ABSENT
    draws: Natural = ABSENT
    checkpoint: Count = ABSENT
    # Methods
    settings_from: str = "none"  # target whose experiments chose the settings of methods
    alpha: Number = ABSENT
    ridge: Positive = ABSENT
    delta: OpenShare = ABSENT
    k: Count = ABSENT
    k_grid: Distinct[Count] = ABSENT
    # Selection of k from the graph
    k_min: Count = ABSENT
    k_max: Count = ABSENT
    resamples: Count = ABSENT
    keep: PositiveShare = ABSENT

    @cached_property
    def factors(self) -> Raw:
        """Return the factors that the block sets."""
        return self.model_dump(exclude_unset=True, include=set(Factors.model_fields), warnings=False)


class _Levels(Block):
    noun = "factor"


_DISTINCT: Any = Distinct
_LISTS: dict[str, Any] = {
    name: (_DISTINCT[info.rebuild_annotation()], ABSENT) for name, info in Factors.model_fields.items()
}
_LEVELS = create_model("Levels", __base__=_Levels, **_LISTS)


def _check_levels(levels: Any) -> Any:
    _LEVELS.model_validate(levels)
    return levels


# Lists of distinct values by factor, each as the factor takes it.
Levels = Annotated[dict[str, list[Any]], BeforeValidator(_check_levels), WithJsonSchema(_LEVELS.model_json_schema())]
