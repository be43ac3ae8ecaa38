from graphdr.bandit.environment import draw as draw_rounds
from graphdr.bandit.graph_prior.public import log_bayes_factor as log_bayes_factor
from graphdr.bandit.graph_prior.public import run_graph_prior as run_graph_prior
from graphdr.bandit.linucb import Run as Run
from graphdr.bandit.linucb import play as run_linucb
from graphdr.bandit.rewards import smooth as smooth_reward
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
from graphdr.serve.streamed.graph import from_parquet as from_parquet
from graphdr.serve.tables import from_edges as from_edges
from graphdr.serve.tables import from_interactions as from_interactions
from graphdr.theory.outcome import Outcome as Outcome

__version__: str
__all__ = [
    "Estimate",
    "Graph",
    "GraphDRLinUCB",
    "GraphEmbedding",
    "Outcome",
    "RoundLog",
    "Run",
    "UserError",
    "arm_features",
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
    "run_graph_prior",
    "run_linucb",
    "sbm",
    "smooth_reward",
    "snips",
    "stream",
]
