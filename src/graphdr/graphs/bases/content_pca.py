"""Principal components of data about the nodes: ratings, features or texts."""

import numpy as np

from graphdr.graphs.arm_features import CONTENT, Basis, BasisSpec, Embedding, leading, singular_roughness


def content_pca(embedding: Embedding, components: int) -> Basis:
    """Compute the leading left singular vectors of an embedding (n x d), its rows at norm one and not centred.

    A row of zeros, which has no direction, stays zero.
    """
    import scipy.sparse as sp

    from graphdr.graphs.pca import NEGLIGIBLE, left_components

    norm = np.sqrt((embedding * embedding).sum(axis=1))
    scale = np.divide(1.0, norm, out=np.zeros(len(norm)), where=norm > NEGLIGIBLE * norm.max(initial=0.0))
    rows = sp.csr_array(sp.diags_array(scale) @ embedding) if sp.issparse(embedding) else scale[:, None] * embedding
    return left_components(rows, components)


BASIS = BasisSpec(
    function=content_pca,
    data=CONTENT,
    columns=leading,
    roughness=singular_roughness,
    citation="Jolliffe (2002), doi:10.1007/b98835",
)
