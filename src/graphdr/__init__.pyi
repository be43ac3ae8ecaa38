from graphdr.bandit.check_policy import check_policy as check_policy
from graphdr.bandit.environment import RoundsSpec as RoundsSpec
from graphdr.bandit.environment import draw_rounds as draw_rounds
from graphdr.bandit.graph_prior.public import log_bayes_factor as log_bayes_factor
from graphdr.bandit.method import BanditProblem as BanditProblem
from graphdr.bandit.policies.graph_prior import GraphPrior as GraphPrior
from graphdr.bandit.policies.linucb import LinUCB as LinUCB
from graphdr.bandit.rewards import smooth as smooth_reward
from graphdr.bandit.simulate import simulate as simulate
from graphdr.cache.io import read as read_table
from graphdr.cache.io import read_frame as read_frame
from graphdr.core.errors import UserError as UserError
from graphdr.core.rng import stream as stream
from graphdr.graphs.arm_features import graded as graded_features
from graphdr.graphs.arm_features import select as arm_features
from graphdr.graphs.contexts import context_rows as context_rows
from graphdr.graphs.contexts import product as product
from graphdr.graphs.model import Graph as Graph
from graphdr.graphs.model import laplacian as laplacian
from graphdr.graphs.model import largest_component as largest_component
from graphdr.graphs.random_graphs import rgg as rgg
from graphdr.graphs.random_graphs import sbm as sbm
from graphdr.graphs.spectral import low_eigenpairs as low_eigenpairs
from graphdr.scores.offpolicy import Estimate as Estimate
from graphdr.scores.offpolicy import doubly_robust as doubly_robust
from graphdr.scores.offpolicy import ips as ips
from graphdr.scores.offpolicy import snips as snips
from graphdr.serve.embedding import GraphEmbedding as GraphEmbedding
from graphdr.serve.policy import GraphDRLinUCB as GraphDRLinUCB
from graphdr.serve.round_log import RoundLog as RoundLog
from graphdr.serve.sources import from_edges as from_edges
from graphdr.serve.sources import from_interactions as from_interactions
from graphdr.serve.streamed import from_parquet as from_parquet
from graphdr.theory.results import RunResult as RunResult

__version__: str
__all__ = [
    "BanditProblem",
    "Estimate",
    "Graph",
    "GraphDRLinUCB",
    "GraphEmbedding",
    "GraphPrior",
    "LinUCB",
    "RoundLog",
    "RoundsSpec",
    "RunResult",
    "UserError",
    "arm_features",
    "check_policy",
    "context_rows",
    "doubly_robust",
    "draw_rounds",
    "from_edges",
    "from_interactions",
    "from_parquet",
    "graded_features",
    "ips",
    "laplacian",
    "largest_component",
    "log_bayes_factor",
    "low_eigenpairs",
    "product",
    "read_frame",
    "read_table",
    "rgg",
    "sbm",
    "simulate",
    "smooth_reward",
    "snips",
    "stream",
]
