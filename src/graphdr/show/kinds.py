"""The kinds of figures that a configuration may ask for; each is a function of its settings and of what it shows."""

from graphdr.show.figures import bounds, curves, dots, sweep
from graphdr.show.panels import leaderboard, specifications, widths


def overview(spec: dict, graph, basis, curves):
    """Draw the pipeline on the data themselves: graph, eigenvectors, projected arms, regret."""
    from graphdr.show.overview import draw  # imports Matplotlib, which whoever only asks for the kinds does not need

    return draw(spec, graph, basis, curves)


KINDS = {f.__name__: f for f in (curves, bounds, sweep, dots, widths, specifications, leaderboard, overview)}
