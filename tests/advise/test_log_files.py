"""Logs as people have them: whatever the dialect of the file, the same rounds."""

import re

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.advise import logs, reading
from graphdr.advise.files import Written
from graphdr.advise.tabular.problems import together
from graphdr.core.errors import UserError

HEADER = ["round", "action", "reward", "propensity", "candidates"]
ROWS = [[f"t{at}", f"café {at % 3}", f"{at % 4}.5", "0.25", "café 0|café 1|café 2"] for at in range(64)]


def joined(mark: str = ",", decimal: str = ".", quote: str = "", end: str = "\n") -> str:
    rows = [[field.replace(".", decimal) for field in row] for row in ROWS]
    return "".join(mark.join(f"{quote}{field}{quote}" for field in row) + end for row in [HEADER, *rows])


FORMS = {
    "latin1.csv": joined().encode("latin-1"),
    "utf16.csv": joined("\t").encode("utf-16"),
    "semicolons.csv": joined(";").encode(),
    "decimal_commas.csv": joined(";", ",").encode(),
    "quoted.csv": joined(quote='"', end="\r\n").encode(),
    "quoted_latin1.csv": joined(";", ",", '"').encode("latin-1"),
    "excel.csv": ("sep=;\n" + joined(";", ",")).encode("utf-8-sig"),
    "blanks.txt": joined("  ").replace("café ", "café_").encode(),
    "bars.csv": joined("|").replace("café 0|café 1|café 2", "café 0;café 1;café 2").encode(),
    "commented.csv": ("# a log\n" + joined()).encode(),
    "double_spaced.csv": joined(end="\r\r\n").encode(),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_log_is_the_same_in_every_dialect(tmp_path, name):
    (tmp_path / name).write_bytes(FORMS[name])
    found = logs.read(tmp_path / name)
    assert [arm.replace("_", " ") for arm in found.arms] == ["café 0", "café 1", "café 2"]
    assert_array_equal(found.played, np.arange(64) % 3)
    assert_allclose(found.rewards, np.arange(64) % 4 + 0.5)
    assert_allclose(found.propensities, 0.25)
    assert_array_equal(np.diff(found.starts), 3)


def test_a_log_is_read_as_the_user_says_that_it_is_written(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(joined("~").replace("é", "ж").encode("cp1251"))
    found = logs.read(path, written=Written(encoding="cp1251", separator="~"))
    assert found.arms == ["cafж 0", "cafж 1", "cafж 2"]


def test_how_a_log_was_read_is_noted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(joined(";").encode("latin-1"))
    assert logs.read(path).notes == ("log.csv: encoding Latin-1 (--encoding); separated by ; (--separator)",)
    path.write_text(joined())
    assert logs.read(path).notes == ()


def test_mistakes_of_a_log_and_of_other_files_are_one_report(tmp_path):
    log, data = tmp_path / "log.csv", tmp_path / "data.csv"
    log.write_text(joined().replace("0.25", "2", 1))
    data.write_text("user,item,value\na,b,1\na,c,x\n")
    readers = (lambda: reading.read(reading.Request(interactions=data)), lambda: logs.read(log))
    with pytest.raises(UserError) as caught:
        together(*readers)
    assert re.fullmatch(
        r".*data\.csv, line 3: .*\. Also .*log\.csv, line 2: propensity 2 is above one.*", str(caught.value)
    )
    log.write_text(joined())
    with pytest.raises(UserError, match=r"^\S*data\.csv, line 3"):
        together(*readers)


def test_only_the_columns_of_a_log_that_have_a_role_are_read(tmp_path):
    path = tmp_path / "log.csv"
    lines = joined().splitlines()
    path.write_text("\n".join(line + f",{'b' if at else 'affinity'}" for at, line in enumerate(lines)))
    assert len(logs.read(path).rewards) == 64
    path.write_text("\n".join([*lines[:9], lines[9] + ",1"]))
    with pytest.raises(UserError, match=r"log\.csv, line 10: number of fields is 6; expected 5 \(round, action"):
        logs.read(path)


def test_lists_of_candidates_keep_names_with_blanks(tmp_path):
    import pyarrow.parquet as pq

    columns = {name: [row[at] for row in ROWS] for at, name in enumerate(HEADER)}
    columns["candidates"] = pa.array([row[4].split("|") for row in ROWS], pa.list_(pa.string(), 3))
    pq.write_table(pa.table(columns), tmp_path / "log")  # a parquet file by its content
    assert logs.read(tmp_path / "log").arms == ["café 0", "café 1", "café 2"]
