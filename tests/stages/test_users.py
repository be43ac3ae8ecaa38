"""Who the users are, from raw files through the stage that tabulates them to segments."""

import zipfile
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

from graphdr.cache import paths
from graphdr.core.rng import stream
from graphdr.graphs.segments import segment
from graphdr.plan import design, jobs
from graphdr.store.datasets import read_records, read_users
from tests.support.project import TOY
from tests.support.stages import run_as_rule
from trust.cases import fixture

pytestmark = pytest.mark.usefixtures("workdir")


def tabulate(config: dict, format: str, **files: bytes) -> dict[str, str]:
    """Tabulate a data set whose archive holds the example of a format; ``files`` are other contents by role."""
    members = fixture(format) | files
    archive = Path("data/raw/toy/toy.zip")
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as zipped:
        for role, data in members.items():
            zipped.writestr(role, data)
    source = {"archive": "toy.zip", "format": format, "members": {role: {"path": role} for role in members}}
    toy = TOY | {"raw": TOY["raw"] | {"sources": [source]}}
    plan = design.expand(config | {"datasets": config["datasets"] | {"toy": toy}})
    for job in (jobs.fetch_raw, jobs.tabulate_dataset):
        run_as_rule(job(plan, "toy"))
    return {kind: getattr(paths, f"dataset_{kind}")("toy") for kind in ("nodes", "links", "users")}


def test_ages_genders_and_occupations_are_read_back_by_the_numbers_of_links(config):
    files = tabulate(config, "movielens_100k")
    users = read_users(files["users"])
    assert users.age.tolist() == [53, 24, 17, -1]
    assert users.gender.tolist() == ["F", "M", "M", ""]
    assert users.occupation.tolist() == ["other", "technician", "student", ""]
    assert users.friends.shape == (2, 0)
    records = read_records(files["nodes"], files["links"])
    segments, holdout = segment("gender", users, records, 2, stream(0, "segments"))
    assert segments.label.tolist() == [0, 1, 1, -1]
    assert_array_equal(holdout.node, records.node)


def test_friends_are_read_back_once_each(config):
    users = read_users(tabulate(config, "hetrec_lastfm")["users"])
    assert users.friends.tolist() == [[0, 1], [2, 2]]
    assert users.age.tolist() == [-1] * 4


def test_citations_have_no_users(config):
    users = read_users(tabulate(config, "ogbn_arxiv")["users"])
    assert [len(column) for column in users] == [0, 0, 0, 2]
