"""Left singular vectors of the item x user ratings."""

from graphdr.graphs.arm_features import RATINGS, Basis, BasisSpec, Embedding, leading, singular_roughness


def interaction_svd(embedding: Embedding, components: int) -> Basis:
    """Compute the leading left singular vectors of the item x user ratings, neither centred nor scaled."""
    from graphdr.graphs.pca import left_components

    return left_components(embedding, components)


BASIS = BasisSpec(
    function=interaction_svd,
    data=RATINGS,
    columns=leading,
    roughness=singular_roughness,
    citation="Sarwar et al. (2000), WebKDD",
)
