"""GraphDR-LinUCB: graph dimensionality reduction for contextual bandits.

What people use without Snakemake is named here and explained in docs/api.md. A name is imported when it is first used:
``import graphdr`` itself loads no library.
"""

__version__ = "0.5.0.dev0"

_PLACES = {
    "Graph": "graphs.model:Graph",
    "largest_component": "graphs.model:largest_component",
    "laplacian": "graphs.model:laplacian",
    "sbm": "graphs.random_graphs:sbm",
    "rgg": "graphs.random_graphs:rgg",
    "context_rows": "graphs.contexts:context_rows",
    "product": "graphs.contexts:product",
    "low_eigenpairs": "graphs.spectral:low_eigenpairs",
    "arm_features": "graphs.arm_features:select",
    "graded_features": "graphs.arm_features:graded",
    "smooth_reward": "bandit.rewards:smooth",
    "RoundsSpec": "bandit.environment:RoundsSpec",
    "draw_rounds": "bandit.environment:draw_rounds",
    "BanditProblem": "bandit.method:BanditProblem",
    "simulate": "bandit.simulate:simulate",
    "LinUCB": "bandit.policies.linucb:LinUCB",
    "GraphPrior": "bandit.policies.graph_prior:GraphPrior",
    "check_policy": "bandit.check_policy:check_policy",
    "log_bayes_factor": "bandit.graph_prior.public:log_bayes_factor",
    "RunResult": "theory.results:RunResult",
    "GraphDRLinUCB": "serve.policy:GraphDRLinUCB",
    "GraphEmbedding": "serve.embedding:GraphEmbedding",
    "RoundLog": "serve.round_log:RoundLog",
    "from_edges": "serve.sources:from_edges",
    "from_interactions": "serve.sources:from_interactions",
    "from_parquet": "serve.streamed:from_parquet",
    "ips": "scores.offpolicy:ips",
    "snips": "scores.offpolicy:snips",
    "doubly_robust": "scores.offpolicy:doubly_robust",
    "Estimate": "scores.offpolicy:Estimate",
    "read_table": "cache.io:read",
    "read_frame": "cache.io:read_frame",
    "stream": "core.rng:stream",
    "UserError": "core.errors:UserError",
}
__all__ = list(_PLACES)  # for type checkers, the same names stand in __init__.pyi


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from graphdr.core.errors import needed_for

    module, attribute = _PLACES[name].split(":")
    with needed_for(f"{__name__}.{name}"):
        globals()[name] = getattr(import_module(f"{__name__}.{module}"), attribute)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
