"""Fit a policy on a graph in blocks and play, with what the core installs; print the mean reward of the later half."""

import numpy as np
import scipy.sparse as sp

from graphdr import GraphDRLinUCB, GraphEmbedding, sbm

graph = sbm(200, np.random.default_rng(0), blocks=5, p_in=0.3, p_out=0.02)
policy = GraphDRLinUCB(random_state=0).fit(sp.csr_array(graph.adjacency))
assert GraphEmbedding(k=5).fit_transform(graph.adjacency).shape == (200, 5)
rng = np.random.default_rng(1)
good = np.arange(graph.n) < graph.n // 5  # one block
paid = []
for _ in range(2000):
    arm = policy.recommend(rng.choice(graph.n, 20, replace=False).tolist())
    paid.append(float(good[arm]) + 0.1 * rng.normal())
    policy.update(arm, paid[-1])
print(np.mean(paid[1000:]))
