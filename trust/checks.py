"""What must hold for an odd input: a right result without NaN, or one UserError. Anything else is raised as it is."""

# ruff: noqa: PT017 - a right result or one clear error needs try and except

import contextlib
import hashlib
import re
from pathlib import Path

import numpy as np
import yaml

from graphdr.bandit import environment, rewards
from graphdr.bandit.method import BanditProblem
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.simulate import simulate
from graphdr.core.errors import QUOTED, UserError
from graphdr.core.rng import stream
from graphdr.graphs import arm_features
from graphdr.graphs.model import from_edges, laplacian, largest_component
from graphdr.graphs.spectral import low_eigenpairs
from graphdr.paper import reference
from graphdr.plan import config, design
from graphdr.raw import archives
from graphdr.raw.sheets import Sheet
from graphdr.raw.tables import LINKS, NODES, USERS, Tables
from trust.cases import ADAPTERS, MEMBER, RARE, one_line

SPEC = environment.RoundsSpec(horizon=20, arms=3, noise=0.1)


def adapter(name: str, raw) -> Tables | None:
    """Read files with an adapter; return its tables, or None if they are refused in one line."""
    try:
        tables = ADAPTERS[name](raw)
    except UserError as error:
        assert one_line(error), str(error)
        return None
    nodes, links, users = tables
    for table, schema in zip(tables, (NODES, LINKS, USERS), strict=True):
        assert table.schema.equals(schema)
    assert users["source"].to_pylist() == list(range(len(users)))
    assert nodes["node"].to_pylist() == list(range(len(nodes)))
    assert len(set(nodes["key"].to_pylist())) == len(nodes) > 0
    assert all(np.isfinite(reward) for reward in nodes["reward"].to_pylist() if reward is not None)
    assert np.isfinite(links["weight"].to_numpy()).all()
    place = links["node"].to_numpy()
    assert len(place) == 0 or 0 <= place.min() <= place.max() < len(nodes)
    return tables


def configuration(given: dict) -> bool:
    """Check a configuration as the workflow does; tell whether it is taken."""
    try:
        design.expand(config.read(given))
    except UserError as error:
        assert len(str(error)) < 20_000, str(error)[:200]
        assert RARE * (QUOTED + 1) not in str(error), str(error)[:200]
        return False
    return True


def user_table(path: Path) -> Sheet:
    """Read all columns of a table as texts, as ``graphdr advise`` reads those that it needs."""
    from graphdr.raw.sheets import InputErrors
    from graphdr.raw.user_tables import TEXT, open_table

    table = open_table(path)
    sheet = table.read(dict.fromkeys(table.names, TEXT))
    InputErrors(sheet).refuse()
    return sheet


def user_file(data: bytes, path: Path) -> bool:
    """Read a file as ``graphdr advise`` does; tell whether it is taken."""
    from graphdr.raw import graph_files

    path.write_bytes(data)
    try:
        graph_files.READERS.get(path.suffix, user_table)(path)
    except UserError as error:
        assert one_line(error, re.escape(str(path))), str(error)
        return False
    return True


def configuration_text(text: bytes, folder: Path) -> bool:
    """Read a configuration as the command line does; tell whether it is taken."""
    from graphdr.cli import project

    (folder / "config.yaml").write_bytes(text)
    try:
        with contextlib.chdir(folder):
            project.load_config()
    except UserError as error:
        assert str(error).startswith("config.yaml: "), str(error)
        return False
    return True


def printed_file(kind: str, data: bytes, folder: Path) -> bool:
    """Read numbers or claims of the paper; tell whether they are taken."""
    path = folder / "printed.csv"
    path.write_bytes(data)
    try:
        frame = getattr(reference, kind)(str(path))
    except UserError as error:
        assert one_line(error, r".*printed\.csv(, line \d+)?: \S"), str(error)
        return False
    assert len(frame) > 0
    assert not frame.isna().any().any()
    if kind == "numbers":
        assert np.isfinite(frame["value"].astype(float)).all()
    return True


def archive(path: Path) -> bool:
    """Look for a member as fetch does; tell whether it is found, which it is with the right content alone."""
    try:
        archives.require_kind(path, "odd.zip")
        inside = archives.locate(path, "u.data")
        if inside is None:
            return False
        _, sha256 = archives.digest(path, inside)
        archives.require_whole(path, inside)
    except archives.Unusable as error:
        assert one_line(error, ""), str(error)
        return False
    with archives.content(path, inside) as opened:
        data = opened.read()
    assert hashlib.sha256(data).hexdigest() == sha256
    assert data == MEMBER
    assert sorted(entry.name for entry in path.parent.iterdir()) == [path.name]  # nothing was unpacked
    return True


def graph(n: int, i: np.ndarray, j: np.ndarray, k: int) -> None:
    """Take a graph through component, spectrum, bases, reward and a game; no number is NaN."""
    whole = from_edges(n, i, j)
    part = largest_component(whole)
    assert 1 <= part.n <= n
    low = low_eigenpairs(part, k)
    assert low.vectors.shape == (part.n, min(k, part.n))
    np.testing.assert_allclose(low.vectors.T @ low.vectors, np.eye(len(low.values)), atol=1e-9)
    assert (np.diff(low.values) >= -1e-9).all()
    assert np.isfinite(laplacian(whole).toarray()).all()
    source = arm_features.Source(part.n, part, embedding=np.eye(part.n))
    for name, spec in arm_features.all_bases().items():
        basis = arm_features.compute(name, source, k, stream(0, "basis", basis=spec.stream_name))
        assert np.isfinite(basis.vectors).all(), name
        assert np.isfinite(basis.residuals).all(), name
        if part.n > SPEC.arms and basis.vectors.shape[1] > 1:
            _play(part.n, low.vectors, arm_features.select(name, basis.vectors, k))


def _play(n: int, low: np.ndarray, arms: np.ndarray) -> None:
    theta = rewards.smooth(low, stream(0, "theta"))
    rounds = environment.draw_rounds(0, SPEC, n, instance=0, seed=0)
    regret = simulate(BanditProblem(theta, features=arms), LinUCB(), rounds).regret
    assert np.isfinite(regret).all()
    assert (np.diff(regret) >= -1e-12).all()


def tiny_text() -> bytes:
    """Return the tiny configuration as text."""
    return (Path(__file__).parent.parent / "tests" / "support" / "tiny.yaml").read_bytes()


def safe_text(settings: dict) -> bytes:
    """Return a configuration as YAML."""
    return yaml.safe_dump(settings).encode()
