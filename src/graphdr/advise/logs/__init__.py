"""Logs of past rounds: read them, and estimate from them what other policies would have earned."""

from graphdr.advise.logs.estimates import ESTIMATORS, LOGGED, Row, evaluate
from graphdr.advise.logs.policies import Fixed, GraphPrior, Past, Policy, Ridge, Served
from graphdr.advise.logs.reading import Log, read, rewards
from graphdr.advise.logs.wording import ByLog, as_dicts, judged_by, tables, text, warnings

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
