"""GraphDR's features as a transformer of scikit-learn."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from graphdr.graphs import arm_features
from graphdr.serve.basis import GRAPHDR, SERVED, SMALLEST, compute, extension
from graphdr.serve.sources import as_graph, column_names, is_table

MATRIX = {"accept_sparse": "csr", "dtype": float, "ensure_non_negative": True}  # what scikit-learn checks


class GraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Embed the nodes of a graph by the k columns that a method of the paper takes as features of its arms.

    GraphDR takes u_2, …, u_{k+1}: the eigenvectors of the k lowest eigenvalues after the first of the normalised
    Laplacian L = I - D^-1/2 A D^-1/2, where A holds the weights of edges and D the degrees. They are the smoothest
    functions on the graph that tell nodes apart. A new node with weights w to the known ones gets the row

        sum_j  w_j / sqrt(d d_j)  u_j  /  (1 - lambda),        d = sum_j w_j,

    the Nyström extension. A node of the graph, given by its own row of A, gets its own features.

    Parameters
    ----------
    k : int, default=10
        The number of features, less than that of nodes.
    basis : str, default="laplacian_low"
        Which columns: one of those in docs/bases.md that need no more than the graph. Examples are "unit_rows" (the
        rows of u_2, …, u_{k+1} at length one), "regularised_low" (the mean degree is added to all degrees), "netmf"
        (random walks), and the controls "laplacian_low_shuffled" and "gaussian".
    components : {"refuse", "largest", "keep"}, default="refuse"
        What to do with a graph in several components: refuse it; leave out all but the largest, with a warning, so that
        there are rows for ``names_`` alone; or keep all. The first features then tell the components apart, and
        the rows of nodes without an edge are zero.
    self_loops : {"refuse", "keep"}, default="refuse"
        What to do with nodes that are joined to themselves: refuse them; or count the weight in their degree.
    random_state : int, RandomState or None, default=None
        The seed of a random basis; others do not look at it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        The features of the nodes.
    eigenvalues_ : ndarray of shape (k,)
        The eigenvalue of each column; only for bases of eigenvectors.
    names_ : list of str or int
        The nodes, in the order of the rows.
    n_features_in_ : int
        The number of nodes, and of columns that ``transform`` expects.
    feature_names_in_ : ndarray of shape (n,)
        The columns of a data frame that was fitted, if all of them are texts.

    See Also
    --------
    graphdr.GraphDRLinUCB : The policy that plays on these features.
    graphdr.from_edges : A graph from a table of edges.
    graphdr.from_interactions : A graph from a table of interactions.

    References
    ----------
    M. Belkin and P. Niyogi (2003), Laplacian eigenmaps for dimensionality reduction and data representation,
    doi:10.1162/089976603321780317.

    Y. Bengio et al. (2003), Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering,
    NeurIPS 16.

    Examples
    --------
    >>> graph = graphdr.from_edges({"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "e"]})
    >>> embedding = graphdr.GraphEmbedding(k=2)
    >>> embedding.fit_transform(graph).shape
    (5, 2)
    >>> embedding.names_
    ['a', 'b', 'c', 'd', 'e']
    >>> embedding.eigenvalues_.round(3).tolist()
    [0.293, 1.0]
    >>> embedding = graphdr.GraphEmbedding(k=1).fit(graph)
    >>> twin_of_a = [[0, 1, 0, 0, 0]]  # joined to b alone
    >>> bool(np.allclose(embedding.transform(twin_of_a), embedding.embedding_[0]))
    True
    """

    def __init__(
        self,
        k: int = 10,
        *,
        basis: str = GRAPHDR,
        components: str = "refuse",
        self_loops: str = "refuse",
        random_state: int | np.random.RandomState | None = None,
    ):
        self.k = k
        self.basis = basis
        self.components = components
        self.self_loops = self_loops
        self.random_state = random_state

    def fit(self, X: object, y: None = None) -> "GraphEmbedding":
        """Compute the features of the nodes of a graph.

        Parameters
        ----------
        X : graph, matrix or table
            A ``graphdr.Graph``, a networkx or igraph graph, a symmetric matrix of weights (sparse, dense or a pandas
            data frame with its names), or a table of edges with columns ``source`` and ``target``. For output as a data
            frame, give a table of edges through ``graphdr.from_edges``.
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        GraphEmbedding
            Itself.
        """
        if self.basis not in SERVED:
            raise ValueError(f"no basis {self.basis!r}; there are: {', '.join(SERVED)}")
        for attribute in ("feature_names_in_", "eigenvalues_"):
            self.__dict__.pop(attribute, None)
        if _is_matrix(X):  # other sources have their own checks, and names
            X = validate_data(self, X, **MATRIX, ensure_min_samples=2)
        graph, self.names_ = as_graph(X, components=self.components, self_loops=self.self_loops)
        if not (isinstance(self.k, int | np.integer) and 1 <= self.k < graph.n):
            raise ValueError(f"k is a whole number from 1 to {graph.n - 1}, not {self.k!r}")
        basis = compute(self.basis, graph, int(self.k) + 1, self.random_state)
        self.embedding_ = arm_features.select(self.basis, basis.vectors, self.k)
        if (columns := self.embedding_.shape[1]) < self.k:
            raise ValueError(f"basis {self.basis!r} of this graph has {columns} columns, fewer than k")
        if arm_features.find(self.basis).is_spectral:
            self.eigenvalues_ = arm_features.roughness(self.basis, basis.values, self.k)
        self._degrees = graph.adjacency.sum(axis=1) if self.basis == GRAPHDR else None
        self._n_features_out, self.n_features_in_ = int(self.k), graph.n
        if is_table(X) and column_names(X) == self.names_:
            validate_data(self, X, skip_check_array=True)  # scikit-learn then compares the columns of new rows
        return self

    def fit_transform(self, X: object, y: None = None) -> np.ndarray:
        """Compute the features of the nodes of a graph as ``fit`` does; return them in the order of ``names_``."""
        return self.fit(X).embedding_.copy()

    def transform(self, X: object) -> np.ndarray:
        """Return the features of new nodes, from the weights of their edges to the fitted ones.

        Parameters
        ----------
        X : matrix of shape (m, n)
            A row per new node, sparse, dense or a data frame, with a column per fitted node in the order of ``names_``.
            A row without an edge gets zeros. Or a graph of the fitted nodes, for their own rows.

        Returns
        -------
        ndarray of shape (m, k)
            The features of the new nodes.
        """
        check_is_fitted(self)
        if self._degrees is None:
            raise ValueError(f"new nodes need basis {GRAPHDR!r}; this one is {self.basis!r}")
        if _is_matrix(X) or is_table(X):
            rows = sp.csr_array(validate_data(self, X, **MATRIX, reset=False))
            numbered = self.names_ == list(range(len(self.names_)))
            if is_table(X) and not numbered and column_names(X) != self.names_:
                raise ValueError("the columns of new rows are the fitted nodes, in the order of names_")
        else:
            graph, names = as_graph(X, components="keep", self_loops="keep")
            if names != self.names_:
                raise ValueError("a graph to transform has the nodes that were fitted; new ones are rows of weights")
            rows = graph.adjacency
        if np.abs(1.0 - self.eigenvalues_).min() < SMALLEST:
            raise ValueError(f"an eigenvalue is within {SMALLEST} of 1, where no node can be added: fit a smaller k")
        return extension(rows, self.embedding_, self.eigenvalues_, self._degrees)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = tags.input_tags.sparse = True
        return tags


def _is_matrix(X: object) -> bool:
    return sp.issparse(X) or isinstance(X, np.ndarray | list)
