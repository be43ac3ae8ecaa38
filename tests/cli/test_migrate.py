"""A configuration with old names becomes one with new names; everything else in it stays as it is."""

import re

import pytest
import yaml

from graphdr.cli.main import main
from graphdr.core.errors import UserError
from graphdr.plan import config as configuration
from graphdr.plan import short_forms
from tests.support.project import ROOT

# A configuration in which ‹old|new› stands for an old name and that of today.
BOTH = """\
# my study
seed: 0
protocol: # the defaults
  ‹users: all|holdout: none›   # who is held out
  ‹tuned|settings_from›: none
  ‹given|user_columns›: none
  ‹coupling|segment_coupling›: 1
  horizon: 100
problems:
  mine: { dataset: sbm, ‹bundled|bundle_sampling›: uniform, ‹pool|bundle_count›: 60 } # pool, as before
methods:
  a: { label: "a pool", policy: graph_prior, basis: ‹|laplacian_low_›shuffled, ‹beside|second_basis›: netmf }
  b: { label: b, basis: ‹length|laplacian_low_random_directions›, ‹in_noise|noise_units›: true }
  c: { label: c, "basis": 'graph_pca_‹length|random_directions›' }
  d: { label: d, basis: ‹given|user_columns› }
  e: { label: e, basis: gaussian_shuffled }
experiments:
  grid:
    ‹stands_for|varies›: [main]
    problems:
      of: mine
      set: { ‹segmented|segment_by›: ring, ‹differences|segment_pattern›: rough }
      vary: { ‹users: [split]|holdout: [users]›, ‹differ|segment_scale›: [1, 2], ‹pilot_from|pilot_source›: [x] }
tables:
  t: { rows: ‹differ|segment_scale›, problem: { of: mine, ‹pool|bundle_count›: 30 }, columns: [regret] }
  u: { rows: { ‹pool|bundle_count›: bundles }, problem: mine-‹seeds_3-users_split|holdout_users-seeds_3› }
figures:
  f: { x: ‹differ|segment_scale› }
claims:
  wins:
    ‹pool|min_problems›: 16
    checks: [monotone: { of: regret@a, along: ‹differ|segment_scale›, where: { ‹pool|bundle_count›: 60 } }]
    ‹beside|alternatives›: { weaker: [growth: { of: regret@a, along: ‹users|holdout› }] }
‹pseudo_papers|simulated_papers›:
  t: { control: grid, ‹stand_ins|aliases›: { b: a } }
"""
OLD = re.sub(r"‹(.*?)\|.*?›", r"\1", BOTH)
NEW = re.sub(r"‹.*?\|(.*?)›", r"\1", BOTH)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_old_name_is_replaced_and_the_rest_stays(workdir, capsys, newline):
    path = workdir / "mine.yaml"
    path.write_bytes(OLD.replace("\n", newline).encode())
    assert main(["migrate", "mine.yaml"]) == 0
    assert path.read_bytes().decode() == NEW.replace("\n", newline)
    assert (workdir / "mine.yaml.old").read_bytes().decode() == OLD.replace("\n", newline)
    printed = capsys.readouterr().out
    assert "mine.yaml: line 12: beside → second_basis" in printed
    assert "the old file is mine.yaml.old" in printed
    assert main(["migrate", "mine.yaml"]) == 0  # once more
    assert capsys.readouterr().out == "mine.yaml: nothing to migrate\n"
    assert path.read_bytes().decode() == NEW.replace("\n", newline)


def test_files_that_a_configuration_names_are_rewritten_too(workdir):
    (workdir / "studies.yaml").write_text("grid: { stands_for: [main], problems: { set: { pool: 3 } } }\n")
    (workdir / "mine.yaml").write_text("seed: 0\nstudies: studies.yaml\ntables: nowhere.yaml\n")
    assert main(["migrate", "mine.yaml"]) == 0
    text = (workdir / "studies.yaml").read_text()
    assert text == "grid: { varies: [main], problems: { set: { bundle_count: 3 } } }\n"
    assert not (workdir / "mine.yaml.old").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("protocol: { pool: 3, bundle_count: 3 }\n", "line 1: both 'pool' and 'bundle_count' are set; keep one"),
        ("- 1\n", "a mapping is needed"),
        ("a: [\n", "cannot be read"),
    ],
)
def test_what_cannot_be_migrated_is_one_line_and_stays(workdir, capsys, text, message):
    (workdir / "mine.yaml").write_text(text)
    assert main(["migrate", "mine.yaml"]) == 1
    assert message in capsys.readouterr().err
    assert (workdir / "mine.yaml").read_text() == text


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [("methods.graphdr", "beside", "second_basis"), ("protocol", "pool", "bundle_count"),
     ("claims.main_wins", "pool", "min_problems"), ("claims.main_wins", "beside", "alternatives")],
)  # fmt: skip
def test_an_old_key_is_named_with_its_new_name_and_the_command(place, old, new):
    config = short_forms.full(yaml.safe_load((ROOT / "config.yaml").read_text()), ROOT)
    block = config
    for name in place.split("."):
        block = block[name]
    block[old] = 1
    message = f"{place}: no key '{old}'; it is called '{new}' now: run graphdr migrate FILE"
    with pytest.raises(UserError, match=message):
        configuration.parse(config)
