"""Logs of past rounds: what people use of ``advise.judging``, to read logs and to judge policies by them."""

from graphdr.advise.judging.estimates import ESTIMATORS, LOGGED, Row, evaluate
from graphdr.advise.judging.policies import Fixed, GraphPrior, Past, Policy, Ridge, Served
from graphdr.advise.judging.reading import Log, read, rewards
from graphdr.advise.judging.wording import ByLog, as_dicts, judged_by, tables, text, warnings

__all__ = [
    "ESTIMATORS",
    "LOGGED",
    "ByLog",
    "Fixed",
    "GraphPrior",
    "Log",
    "Past",
    "Policy",
    "Ridge",
    "Row",
    "Served",
    "as_dicts",
    "evaluate",
    "judged_by",
    "read",
    "rewards",
    "tables",
    "text",
    "warnings",
]
