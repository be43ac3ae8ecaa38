"""What every cached parquet file holds: one row of this module per column, with its meaning."""

import pyarrow as pa

_PROBLEM = ("problem", pa.string(), "problem, a key of the design")
_INSTANCE = ("instance", pa.int32(), "random graph and reward of the panel, 0 being the one shown")
_METHOD = ("method", pa.string(), "method, a key of config.yaml")
_QUANTITY = ("quantity", pa.string(), "what was measured, a key of config.yaml")
_DRAW = ("draw", pa.int32(), "draw of a random basis, 0 being the one shown")

COLUMNS = {
    "nodes": [
        _INSTANCE,
        ("node", pa.int32(), "node of the graph, from 0"),
        ("origin", pa.int32(), "its number before smaller components were dropped"),
    ],
    "edges": [
        _INSTANCE,
        ("i", pa.int32(), "smaller end of the edge"),
        ("j", pa.int32(), "larger end of the edge"),
        ("weight", pa.float64(), "weight of the edge"),
    ],
    "basis": [
        _INSTANCE,
        _DRAW,
        ("component", pa.int32(), "position in the basis, from 0"),
        ("value", pa.float64(), "eigenvalue or singular value"),
        ("residual", pa.float64(), "norm of L v - value v, 0 where there is no eigenproblem"),
        ("vector", pa.list_(pa.float64()), "one entry a node"),
    ],
    "theta": [
        _PROBLEM,
        _INSTANCE,
        ("node", pa.int32(), "node of the observed graph"),
        ("theta", pa.float64(), "expected reward of the node; unit norm over the nodes"),
    ],
    "facts": [
        _PROBLEM,
        _INSTANCE,
        _QUANTITY,
        ("value", pa.float64(), "its value"),
    ],
    "runs": [
        _PROBLEM,
        _INSTANCE,
        _DRAW,
        ("seed", pa.int32(), "stream of arms and noise"),
        ("t", pa.int32(), "rounds played"),
        ("regret", pa.float64(), "cumulative pseudo-regret after t rounds"),
    ],
    "measurements": [
        _PROBLEM,
        _INSTANCE,
        _METHOD,
        ("predictor", pa.string(), "predictor that was evaluated, if any"),
        _QUANTITY,
        ("value", pa.float64(), "mean over the runs, or the fact itself"),
        ("sem", pa.float64(), "standard error of that mean"),
        ("n", pa.int32(), "number of values behind the mean"),
    ],
    "curves": [
        _PROBLEM,
        _METHOD,
        ("t", pa.int32(), "rounds played"),
        ("mean", pa.float64(), "mean regret over the seeds of instance 0"),
        ("sem", pa.float64(), "standard error of that mean"),
        ("panel_median", pa.float64(), "median over the instances of the mean regret"),
        ("panel_low", pa.float64(), "5 % quantile over the instances"),
        ("panel_high", pa.float64(), "95 % quantile over the instances"),
    ],
    "table": [
        ("row", pa.string(), "row of the table"),
        ("column", pa.string(), "column of the table"),
        _QUANTITY,
        ("value", pa.float64(), "value on instance 0"),
        ("sem", pa.float64(), "standard error over its seeds"),
        ("n", pa.int32(), "number of values behind it"),
        ("panel_median", pa.float64(), "median over the instances"),
        ("panel_low", pa.float64(), "5 % quantile over the instances"),
        ("panel_high", pa.float64(), "95 % quantile over the instances"),
        ("panel", pa.list_(pa.float64()), "the value on every instance"),
    ],
    "figure": [
        ("series", pa.string(), "line or layer of the figure"),
        ("x", pa.float64(), "horizontal position"),
        ("y", pa.float64(), "vertical position"),
        ("low", pa.float64(), "lower end of the band"),
        ("high", pa.float64(), "upper end of the band"),
        ("panel_low", pa.float64(), "5 % quantile over the instances"),
        ("panel_high", pa.float64(), "95 % quantile over the instances"),
    ],
    "comparison": [
        ("artifact", pa.string(), "table of the paper"),
        ("row", pa.string(), "its row"),
        ("column", pa.string(), "its column"),
        ("paper", pa.float64(), "the paper's number"),
        ("paper_sem", pa.float64(), "the paper's standard error, where printed"),
        ("ours", pa.float64(), "our number, on instance 0"),
        ("sem", pa.float64(), "our standard error"),
        ("ratio", pa.float64(), "ours divided by the paper's"),
        ("panel_median", pa.float64(), "median over our instances"),
        ("panel_low", pa.float64(), "5 % quantile over our instances"),
        ("panel_high", pa.float64(), "95 % quantile over our instances"),
        ("percentile", pa.float64(), "share of our instances below the paper's number, in percent"),
        ("verdict", pa.string(), "match, close, in panel, differs, or no data"),
    ],
}

SCHEMAS = {
    kind: pa.schema([pa.field(name, type_, metadata={"description": text}) for name, type_, text in columns])
    for kind, columns in COLUMNS.items()
}
