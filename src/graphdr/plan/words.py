"""Words for the names of a configuration: what a reader sees in place of keys."""

from collections.abc import Iterable
from itertools import product

from graphdr.plan.blocks import Config, Experiment
from graphdr.plan.problem import Problem
from graphdr.show.words import FACTORS


def labels(config: Config) -> dict[str, str]:
    """Return the words for all names that cells and claims mention: a later kind wins over an earlier one."""
    named = FACTORS | {name: quantity.label for name, quantity in config.quantities.items()}
    named |= predictors(config, config.evaluations)
    named |= {name: method.label for name, method in config.methods.items()}
    return named | {name: block.label for name, block in config.datasets.items() if block.label}


def predictors(config: Config, evaluations: Iterable[str]) -> dict[str, str]:
    """Name predictors after their quantities, a joint one after all of its facts."""
    quantities, named = config.quantities, {}
    for evaluation in (config.evaluations[name] for name in evaluations):
        for name, facts in evaluation.predictor_facts.items():
            parts = [name] if name in quantities else facts
            named[name] = " and ".join(quantities[fact].label if fact in quantities else fact for fact in parts)
        for fact, (name, dataset) in product(evaluation.means, config.datasets.items()):
            named[f"{fact}_{name}"] = f"{quantities[fact].label} on {dataset.label or name}"
    return named


def title(config: Config, problem: Problem, experiment: Experiment) -> str:
    """Name a problem by its data set and the settings that its experiment varies."""
    varied = [*sorted(experiment.problems.vary), *experiment.problems.cycle]
    settings = [f"{FACTORS.get(name, name)} = {str(getattr(problem, name)).replace('_', '-')}" for name in varied]
    return ", ".join([config.datasets[problem.dataset].label or problem.dataset, *settings])


def heading(name: str) -> str:
    """Turn a name that has no title into one: without underscores, with a capital."""
    words = name.replace("_", " ")
    return words if words[1:2] == " " else words[:1].upper() + words[1:]
