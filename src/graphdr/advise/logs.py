"""Logs of past rounds: the public names of ``advise.ope``, which reads logs and evaluates policies on them."""

from graphdr.advise.ope.estimates import ESTIMATORS, LOGGED, Row, evaluate
from graphdr.advise.ope.policies import Fixed, GraphPrior, Past, Policy, Ridge, Served
from graphdr.advise.ope.reading import Log, read
from graphdr.advise.ope.wording import ByLog, evaluate_by_log, tables, text, warnings

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
    "evaluate",
    "evaluate_by_log",
    "read",
    "tables",
    "text",
    "warnings",
]
