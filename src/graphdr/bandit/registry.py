"""All policies by name: every subclass of ``Method`` with a name in a module of ``bandit.policies``."""

import pkgutil
from importlib import import_module

from graphdr.bandit import policies
from graphdr.bandit.method import Method


def _discover() -> dict[str, type[Method]]:
    registry = {}
    for entry in pkgutil.iter_modules(policies.__path__):
        module = import_module(f"{policies.__name__}.{entry.name}")
        for member in vars(module).values():
            if isinstance(member, type) and issubclass(member, Method) and member.policy:
                registry[member.policy] = member
    return dict(sorted(registry.items()))


POLICIES = _discover()
