"""Several files of one request: their mistakes are named together, and their rewards count users."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.advise import files
from graphdr.advise.data import Data, Interactions, mean_reward
from graphdr.advise.reading import Request, read
from graphdr.core.errors import UserError
from graphdr.raw import bounded
from trust.checks import user_table

GOOD = {
    "edges": "source,target\na,b\nb,c\n",
    "rewards": "node,reward\na,1\nb,2\nc,3\n",
    "features": "item,x\na,1\nb,2\nc,3\n",
    "titles": "item,title\na,A\n",
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"edges": "source,target\na,a\n", "rewards": "node,reward\na,x\n", "features": "item,x\na,1\na,2\n"},
            "^edges, line 2: 'a' is joined to itself; --drop-loops.* out. Also features, line 3: item 'a' again.*"
            ". Also rewards, line 2: reward 'x' is not a finite number",
        ),
        (
            {"rewards": "node,reward\na,1\n", "titles": "item\na\n"},
            "^rewards: 2 of 3 items of the data are missing, .b. first; expected a line for each. Also titles: no col",
        ),
        ({"edges": "source,target\na,a\n"}, "^edges, line 2: 'a' is joined to itself; --drop-loops leaves that out$"),
        ({"edges": "", "rewards": ""}, "^edges: empty file. Also rewards: empty file$"),
    ],
)
def test_mistakes_of_all_files_are_one_error(tmp_path, monkeypatch, changes, message):
    monkeypatch.chdir(tmp_path)
    for name, text in (GOOD | changes).items():
        Path(name).write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        read(Request(**{name: Path(name) for name in GOOD}))
    assert "\n" not in str(caught.value)


def test_a_text_that_cannot_be_read_in_the_free_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("user,item,value\n" + "a,b,1\n" * 1000)
    size = path.stat().st_size
    monkeypatch.setattr(bounded, "free_memory", lambda: files.READING * size)
    assert len(user_table(path).columns["user"]) == 1000
    monkeypatch.setattr(bounded, "free_memory", lambda: files.READING * size - 1)
    with pytest.raises(UserError, match=r"t\.csv: its table would take 36\.1 kB, and .* 100% of the free memory"):
        user_table(path)


def test_without_values_a_user_who_chose_an_item_twice_counts_once():
    rows = Interactions(np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 1]))
    assert_array_equal(rows.choosers(3), [1, 3, 0])
    data = Data(pa.array(["a", "b", "c"]), rows, users=pa.array(["x", "y", "z"]))
    assert_allclose(mean_reward(data), [1 / 3, 1, 0])
