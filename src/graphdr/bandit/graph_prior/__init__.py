"""The graph prior: rewards that are part graph, part of each arm alone, in shares that the rewards seen decide."""
