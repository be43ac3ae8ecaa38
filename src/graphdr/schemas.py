"""What every cached parquet file holds: one row of this module per column, with its meaning."""

import pyarrow as pa

_PROBLEM = ("problem", pa.string(), "problem, a key of the design")
_INSTANCE = ("instance", pa.int32(), "random graph and reward of the panel, 0 being the one shown")
_METHOD = ("method", pa.string(), "method, a key of config.yaml")
_QUANTITY = ("quantity", pa.string(), "what was measured, a key of config.yaml")
_DRAW = ("draw", pa.int32(), "draw of a random basis, 0 being the one shown")

COLUMNS = {
    "raw": [
        ("role", pa.string(), "what the file is for, a key of the data set's sources"),
        ("archive", pa.string(), "file beside this one that holds it"),
        ("member", pa.string(), "its name inside the archive, empty for a single file"),
        ("source", pa.string(), "where it came from: file, mirror, url or wheel"),
        ("address", pa.string(), "the path, address or requirement behind that"),
        ("format", pa.string(), "adapter that reads it"),
        ("bytes", pa.int64(), "size as stored"),
        ("sha256", pa.string(), "hash of its bytes as stored"),
        ("status", pa.string(), "verified, unverified (not the official bytes), recorded (no hash known) or absent"),
    ],
    "dataset_nodes": [
        ("node", pa.int32(), "node of the data set, from 0, in order of first appearance"),
        ("key", pa.string(), "its name in the raw files"),
        ("title", pa.string(), "what people call it; the key where there is no title"),
        ("group", pa.string(), "genre, category or label, where known"),
        ("subgroup", pa.string(), "finer category, where known"),
        ("popularity", pa.int64(), "number of interactions or impressions; of neighbours where nodes are linked"),
        ("reward", pa.float64(), "mean rating, mean log plays or click rate; missing where there is none"),
        ("text", pa.string(), "title and abstract, where known"),
        ("features", pa.list_(pa.float32()), "features of the node, where known"),
    ],
    "dataset_links": [
        ("source", pa.int32(), "user, or citing node"),
        ("node", pa.int32(), "node of the data set"),
        ("weight", pa.float64(), "rating or number of plays; 1 for a click or a citation"),
    ],
    "nodes": [
        _INSTANCE,
        ("node", pa.int32(), "node of the graph, from 0"),
        ("origin", pa.int32(), "its number before nodes were lost; in a perturbed graph that of the clean one"),
        ("item", pa.int32(), "its number in the data set; the same as origin in a random graph"),
        ("popularity", pa.float64(), "interactions of the item; the degree in a random graph"),
        ("reward", pa.float64(), "reward of the item as observed; missing where rewards are drawn"),
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
        _DRAW,
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
        ("panel", pa.list_(pa.float64()), "the value on every instance; of every draw where there is one instance"),
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
        ("verdict", pa.string(), "match, close, in panel, differs, other data or no data"),
    ],
    "claims": [
        ("claim", pa.string(), "claim, a key of data/paper/claims.csv or of config.yaml"),
        ("where", pa.string(), "part of the paper that makes it"),
        ("statement", pa.string(), "what it states"),
        ("criterion", pa.string(), "what must be measured for it to hold"),
        ("measured", pa.string(), "the numbers that decided"),
        ("verdict", pa.string(), "holds, fails or no data, and on which data if not on all of the paper's"),
        ("share", pa.float64(), "share of the random instances in which it holds; missing where there is one instance"),
        ("available", pa.string(), "data sets that it was judged on"),
        ("missing", pa.string(), "data sets that it is about, too, but that are not here or not the paper's"),
        ("build", pa.string(), "command that builds what is missing"),
    ],
}

SCHEMAS = {
    kind: pa.schema([pa.field(name, type_, metadata={"description": text}) for name, type_, text in columns])
    for kind, columns in COLUMNS.items()
}
