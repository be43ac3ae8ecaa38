"""Files that would take all memory or all time, hang, or write elsewhere: each is one clear line, soon."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import yaml

from graphdr import __main__ as package
from graphdr.advise import run
from graphdr.cli import advising
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.plan.yaml_files import read_yaml
from graphdr.raw import bounded, graph_files, parquet_files
from graphdr.show.report import template
from tests.support import hostile, limited
from tests.support.project import ROOT
from trust.checks import user_table

SECONDS, MEMORY = 10, 500 * 10**6
ESCAPE = "\033]0;owned\a\033[31m\u202e\x9b31m"  # sets a title, a colour, and the order of letters


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A folder that passes for a project, with hostile files in it."""
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copy(ROOT / "Snakefile", folder)
    written = yaml.safe_load((ROOT / "tests" / "support" / "tiny.yaml").read_text(encoding="utf-8"))
    (folder / "config.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    (folder / "good.csv").write_text("user,item,value\n" + "".join(f"u{at},i{at % 9},{at % 5}\n" for at in range(99)))
    (folder / f"name{ESCAPE}.csv").write_text(f"{ESCAPE},b,c\nx,y,z\n")
    (folder / "anchors").mkdir()
    shutil.copy(ROOT / "Snakefile", folder / "anchors")
    (folder / "anchors" / "config.yaml").write_text(hostile.anchors())
    return folder


def asked(name: str) -> list[list[str]]:
    """Return the commands that read a file: a graph is read in one way, a table in several."""
    if Path(name).suffix in graph_files.READERS:
        return [["advise", "--edges", name]]
    return [
        ["advise", name],
        ["advise", "--edges", name, "--rewards", name],
        ["advise", "good.csv", "--rewards", name],
        ["advise", "good.csv", "--log", name],
    ]


@pytest.mark.slow
def test_every_hostile_file_is_one_clear_line_within_bounds(project):
    expected = hostile.write_all(project)
    commands = [(name, command) for name in expected for command in asked(name)]
    commands += [(name, ["advise", name]) for name in (f"name{ESCAPE}.csv", "none\nsuch.csv")]
    commands += [("anchors", ["advise", "--root", "anchors", "good.csv"]), ("anchors", ["--root", "anchors", "ls"])]
    expected |= {"anchors": "more than 200,000 values, with its aliases written out"}
    environment = os.environ | {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "NUMBA")}
    run = subprocess.run(
        [sys.executable, "-m", limited.__name__, project, str(SECONDS), str(MEMORY)],
        cwd=ROOT, env=environment, input=json.dumps([command for _, command in commands]),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(commands), (commands[len(answers)], run.stderr[-1000:])
    for (name, command), answer in zip(commands, answers, strict=True):
        lines = answer["err"].splitlines()
        assert (answer["code"], len(lines), answer["out"]) == (1, 1, ""), (command, answer)
        assert lines[0].startswith("error: "), command
        assert lines[0].isprintable(), command
        assert len(lines[0]) <= 1000, command
        assert expected.get(name, "") in lines[0], command
    assert sum(answer["seconds"] for answer in answers) < SECONDS


# What is no attack is read as before


def test_a_file_unpacks_within_bounds(tmp_path, monkeypatch):
    content, packed = b"user,item\n" * 1000, tmp_path / "good.csv.gz"
    packed.write_bytes(gzip.compress(content[:5000]) + gzip.compress(content[5000:]))
    assert bounded.contents(packed) == content
    monkeypatch.setattr(bounded, "SMALL", 9000)
    assert bounded.contents(packed) == content  # of less than 200 times the size
    monkeypatch.setattr(bounded, "RATIO", 50)
    with pytest.raises(UserError, match=r"would take 10\.0 kB, for 116 bytes in the file: not plausible data"):
        bounded.contents(packed)
    monkeypatch.undo()
    monkeypatch.setattr(bounded, "free_memory", lambda: 30_000)
    with pytest.raises(UserError, match=r"10\.0 kB, and 7\.5 kB is the most that one file may take here, 25% of"):
        bounded.contents(packed)


def test_free_memory_is_what_a_container_and_the_limits_of_a_process_leave(monkeypatch):
    folder = "/sys/fs/cgroup/job/memory"
    texts = {"/proc/self/cgroup": "0::/job\n", f"{folder}.max": "10000\n", f"{folder}.current": "9000\n"}
    monkeypatch.setattr(bounded, "_text", lambda path: texts.get(path, ""))
    assert bounded.free_memory() == 1000
    texts[f"{folder}.stat"] = "anon 5\ninactive_file 3000\n"
    assert bounded.free_memory() == 4000
    texts[f"{folder}.max"] = "max\n"
    assert bounded.free_memory() > 10000
    texts["/proc/self/status"] = "VmSize: 3 kB\n"
    monkeypatch.setattr("resource.getrlimit", lambda kind: (5000, 5000))
    assert bounded.free_memory() == 5000 - 3 * 1024


def test_nodes_without_edges_are_nodes(tmp_path):
    path = tmp_path / "graph.npz"
    sp.save_npz(path, sp.coo_array(([1.0, 1.0], ([0, 4], [4, 0])), shape=(100_000, 100_000)))
    edges, nodes = graph_files.npz(path)
    assert [column.to_pylist() for column in edges.columns.values()] == [["0"], ["4"], ["1"]]
    assert len(nodes.columns["id"]) == 100_000


def test_texts_of_parquet_are_as_they_were_written(tmp_path):
    words = ["a", None, "b\n", "", "a"]
    kinds = {"text": pa.string(), "long": pa.large_string(), "bytes": pa.binary()}
    table = pa.table({name: pa.array(words, pa.string()).cast(kind) for name, kind in kinds.items()})
    table = table.append_column("kinds", pa.array(words).dictionary_encode()).append_column("x.y", pa.array(range(5)))
    pq.write_table(table, tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    assert parquet_files.table("t", data, table.column_names).equals(table)
    assert parquet_files.table("t", data, ["text"]).equals(table.select(["text"]))


def test_data_of_graphml_come_together_whatever_cuts_them(tmp_path):
    path, cut = tmp_path / "g.graphml", "x&amp;y\n<!-- z -->&#233;" * 1000
    keys = "<key id='d' attr.name='label'/>"
    path.write_text(hostile.GRAPHML.format(keys, f"<node id='a'/><node id='b'><data key='d'> {cut} </data></node>"))
    nodes = graph_files.graphml(path)[1]
    assert nodes.columns["label"].to_pylist() == ["", ("x&y\né" * 1000)]
    assert nodes.place(1).startswith("line ")


def test_anchors_of_every_day_are_read(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: [*a, *a]\n")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"x": 1, "y": 2}, "c": [{"x": 1}, {"x": 1}]}
    for text, complaint in (
        ("a: &a [*a]", "line 1 is part of itself"),
        ("[" * 300_000, "nested more than 50 levels deep"),
        ("a: *b", "undefined alias"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=f"^here: .*some.yaml: .*{complaint}"):
            read_yaml(path, "here: ")


# Time


def written(folder: Path, rows: int) -> dict[str, tuple[Path, Callable]]:
    """Write a table, or a graph, of so many rows in every format; return how each is read."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, rows, (2, rows))
    lines = [f"{a},{b},{c}" for a, b, c in zip(*ends.tolist(), (ends[0] % 7).tolist(), strict=True)]
    text = "\n".join(["user,item,value", *lines])
    nodes = "".join(f"<node id='{a}'><data key='x'>a\nb</data></node>" for a in range(rows))
    edges = "".join(f"<edge source='{a}' target='{b}'/>\n" for a, b in ends.T)
    (folder / "t.csv").write_text(text)
    (folder / "q.csv").write_text(text.replace("user", '"user"'))
    (folder / "t.tsv").write_text(text.replace(",", "\t"))
    (folder / "t.csv.gz").write_bytes(gzip.compress(text.encode(), 1))
    pq.write_table(pa.table({"user": ends[0].astype(str), "item": ends[1]}), folder / "t.parquet")
    (folder / "g.graphml").write_text(hostile.GRAPHML.format("", nodes + edges))
    sp.save_npz(folder / "g.npz", sp.coo_array((np.ones(rows), ends), shape=(rows, rows)), compressed=False)
    return {path.name: (path, graph_files.READERS.get(path.suffix, user_table)) for path in folder.iterdir()}


@pytest.mark.slow
def test_time_is_linear_in_the_size_of_every_format(tmp_path):
    sizes = {}
    for times in (1, 4):
        (tmp_path / str(times)).mkdir()
        sizes[times] = written(tmp_path / str(times), 10_000 * times)
    for name in sizes[1]:
        spent = {times: [] for times in sizes}
        for times in (*sizes, *sizes, *sizes, *sizes):
            path, read = sizes[times][name]
            begin = time.process_time()
            read(path)
            spent[times].append(time.process_time() - begin)
        assert min(spent[4]) < 8 * min(spent[1]) + 0.01, (name, spent)  # 16 times if it were quadratic


# Memory, links and letters


@pytest.mark.parametrize(
    ("error", "message"),
    [(MemoryError(), "not enough memory"), (RecursionError(), "nested too deeply")],
)
def test_what_does_not_fit_is_one_line(error, message, project, monkeypatch, capsys):
    def fail(*_) -> None:
        raise error

    monkeypatch.chdir(project)
    monkeypatch.setattr(advising, "run", fail)
    monkeypatch.setattr(package, "run_stage", fail)
    for arguments in (["advise", "good.csv"], ["run_bandit", "code", "{}"]):
        assert package.main(arguments) == 1
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith(f"error: {arguments[0]}: ")
        assert message in lines[0]


def test_advice_is_not_written_to_a_linked_folder(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="linked: a link; remove it, or give another --name"):
        run.write(SimpleNamespace(folder="linked"), None, tmp_path, "", "")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_no_control_character_reaches_a_terminal_or_a_page(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "coloured", lambda: True)
    painted = terminal.printable(f"{ESCAPE}\t{terminal.paint(ESCAPE, 'red')}\n")
    clean = "�]0;owned��[31m��31m"
    assert painted == f"{clean}\t\033[31m{clean}\033[0m\n"
    assert terminal.unpainted(terminal.paint("a", "red")) == "a"
    assert terminal.printable("é ü 電影 👩\u200d🔬 می\u200cخواهم") == "é ü 電影 👩\u200d🔬 می\u200cخواهم"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    terminal.Status()(ESCAPE)
    assert capsys.readouterr().err == f"\r\033[K{clean}"
    assert terminal.as_json({"x": f"{ESCAPE}\x7f"}).isascii()
    assert "\x7f" not in terminal.as_json("\x7f")
    assert template.render("<p>{{ text }}</p>", text="<b>&") == "<p>&lt;b&gt;&amp;</p>"


def test_no_control_character_reaches_the_report():
    """The page replaces them in its JSON, which has them escaped, before it is parsed."""
    script = (ROOT / "src/graphdr/show/report/static/page.js").read_text(encoding="utf-8")
    pattern = re.search(r"CONTROLS = /(.*)/g;", script)[1]
    idle = "\b\f\r\x7f"  # do nothing in a page
    controls = [letter for letter in map(chr, range(0xD800)) if terminal.printable(letter) != letter not in idle]
    assert len(controls) > 70
    shown = template.render("{{ document | tojson }}", document=[*controls, "a\n\t<é\u200d"])
    assert json.loads(re.sub(pattern, r"\\ufffd", shown)) == ["�"] * len(controls) + ["a\n\t<é\u200d"]
