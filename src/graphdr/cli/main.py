"""The command line: arguments, help, output as text or JSON, and mistakes as one line."""

import argparse
import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from graphdr import __version__
from graphdr.cli import names, project
from graphdr.core.errors import UserError

COMMANDS = ("ls", "show", "why", "summary", "verify", "advise")

ABOUT = """\
Look at what is cached under results/ and data/: list it, read it, and ask where a number comes from. Or ask whether a
graph helps on your own data. Run it in the project's folder. Snakemake builds; all but `advise` only reads."""

EXAMPLES = """\
examples:
  graphdr ls                                   one line per stage: files, rows, size, age, how many are not current
  graphdr show main_synthetic                  a table, to read
  graphdr show results/runs/main/graphdr.parquet
                                               columns with their meaning, provenance and the first rows
  graphdr why main_synthetic graphdr regret    one number, down to raw checksums and the root seed
  graphdr summary                              what was built, and how it compares with the paper
  graphdr verify                               compare every built file with its digest
  graphdr advise ratings.csv                   does a graph help on your own data, and with how many dimensions?

exit codes: 0 fine; 1 a mistake, or problems found; 2 wrong usage. NO_COLOR turns colours off."""

LS = """\
List what is cached. A file is `current` if the code fingerprint and the parameters that it was built with are
those of the present code and config.yaml, and its inputs have the hashes that were recorded; else it is
`outdated: code`, `params` or `inputs`. `changed` is a file of another size than the manifest says, or one that
cannot be read; `missing` one that is only in the manifest; `foreign` one that no stage built. Only footers are read:
`graphdr verify` compares whole files."""

LS_MORE = """\
examples:
  graphdr ls                    one line per stage
  graphdr ls --all              one line per file
  graphdr ls run_bandit         the files of a stage
  graphdr ls results/runs/main  the files whose path begins so; `runs/main` is enough
  graphdr ls --json | jq -r '.files[] | select(.state != "current") | .path'

JSON: {stages: [{stage, files, rows, bytes, oldest, newest, not_current, states, why}],
       files: [{path, stage, kind, rows, bytes, modified, state, reasons}],
       built_on_others, unreadable_manifest_entries}"""

SHOW = """\
Show a file: size, provenance (stage, version, code, parameters, marks, inputs), columns with their meaning, and the
first rows. A table, a figure, `comparison` or `claims` by name is laid out to be read. A parquet file of anyone else
is shown as well."""

SHOW_MORE = """\
examples:
  graphdr show main_synthetic                     a table; `tables/rgg` and `figures/rgg` where names are shared
  graphdr show comparison                         every number of the paper beside ours
  graphdr show results/measurements/main.parquet --rows 30
  graphdr show measurements/main --json | jq '.provenance.inputs'

JSON: {path, kind, rows, bytes, modified, hash, provenance: {stage, version, code, params, inputs} or null, marks,
       columns: [{name, type, description}], head: [a row each]}"""

WHY = """\
Say what a file was made of, or one number of a table: the chain of inputs, parameters and code as recorded when they
were built, down to the raw files with their checksums and to the root seed with the purpose of every random stream.
For a number it is only what is behind that number, with its measurements, its runs and the paper's number."""

WHY_MORE = """\
examples:
  graphdr why results/basis/sbm-n_200/shuffled.parquet
  graphdr why comparison --depth 2
  graphdr why main_synthetic graphdr regret       table, row, column: as in config.yaml, or as printed
  graphdr why cross_dataset ml_1m zeta --json | jq -r '.files[].raw[].sha256'

JSON: {cell: {table, row, column, problem, key, quantity, field, value, sem, n, panel_median, panel_low, panel_high,
              paper: {paper, paper_sem, ratio, percentile, verdict} or null} or null,
       measurements: [{path, problem, …, value, sem, n}], pooled: [as measurements, for a score],
       runs: [{path, problem, instance, draw, seed, t, regret}], start: [path],
       files: [{path, stage, version, code, hash, params, marks, inputs: [{path, as_recorded}],
                streams: [{seed, purpose, key}], raw: [{role, archive, member, address, sha256, status, …}],
                sha256, problem}]}"""

SUMMARY_MORE = """\
JSON: {artifacts: {tables, figures}, numbers: {verdict: count}, claims: {verdict: count}, seconds, pages: [path]}"""

VERIFY = """\
Compare every file under data/raw, data/tables and results/ with what was recorded when it was built. A file that is
changed, truncated, missing, left behind by a killed job or foreign is a line that says what to do about it."""

VERIFY_MORE = """\
examples:
  graphdr verify                               one line per problem, and a count
  graphdr verify --repair-list                 the files to delete, and nothing else
  graphdr verify --rebuild-list                the files to build after that; make repair does both
  graphdr verify --json | jq -r '.problems[] | select(.kind == "foreign") | .path'

Foreign files, and raw files that were placed by hand, are named but never in the list.
JSON: {files, problems: [{path, kind, problem, delete: [path]}]}; of a list {delete: [path]} or {build: [path]}"""


ADVISING = "say whether a graph helps on your own data"

ADVISE = """\
Say whether a graph helps on your own data before you deploy: which reducer, how many dimensions, how sure, and what it
would save. Give interactions (user, item, value), or a graph by --edges with --rewards. Files are csv, tsv, parquet or
RecBole's; a graph may also be GraphML or a scipy .npz. Columns are found by usual names, or named by options. The data
are built with the stages of the workflow under results/advise/NAME/, where everything is cached: the same data again
run nothing."""

ADVISE_MORE = """\
examples:
  graphdr advise ratings.csv
  graphdr advise user_artists.dat --titles artists.dat --node id --title name
  graphdr advise ratings.csv --user reader --item book --value stars --nodes all
  graphdr advise --edges links.csv --rewards clicks.csv
  graphdr advise --edges adjacency.npz --rewards labels.csv --positive cs.LG --k 5 10 20
  graphdr advise ratings.csv --log rounds.csv --log-columns reward=clicked
  graphdr advise ratings.csv --json | jq '.advice | {use_graph, method, k, sure}'

Written besides: advice.txt, advice.json, advice.html and block.yaml, a data set to paste into config.yaml.
JSON: {name, label, folder, answer: [sentence], paste,
       advice: {use_graph, reason, method, k, sure, at_edge: [method], best_graph_method, best_without_graph, runner_up,
                against: {method: {estimate, low, high, sure}}, saves: {method: {share, low, high}},
                chosen_k: {method: k}, judged: {method: regret}},
       regret: {method: {k: {mean, sem}}}, facts: {k: {fact: value}}, spectrum: [eigenvalue],
       curves: {method: [[round, regret]]}, graph: {family, available, asked, kept, components, edges, grid, …},
       setting: {horizon, arms, noise, seeds, choosing_seeds, shuffled_copies}, labels: {method: label},
       notes: [text], log: null or {warnings: [text], estimates: [{policy, against, estimator, value, sem, low, high,
                                   ess, weight, weight_sem, rounds, level}]}}"""


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are one line."""

    def error(self, message: str) -> None:
        self.exit(2, f"error: {message} ({self.prog} --help)\n")


def parser(asked: str | None = None) -> argparse.ArgumentParser:
    """Build the parser of all commands; the options of some are only there if that command is asked for."""
    raw = argparse.RawDescriptionHelpFormatter
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--root", type=Path, default=argparse.SUPPRESS, help="folder of the project (here)")
    shared.add_argument("--json", action="store_true", help="print JSON, for scripts")
    top = Parser(prog="graphdr", description=ABOUT, epilog=EXAMPLES, formatter_class=raw)
    top.add_argument("--version", action="version", version=f"graphdr {__version__}")
    top.add_argument("--root", type=Path, default=argparse.SUPPRESS, help="folder of the project (here)")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, help_: str, description: str, more: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=help_, description=description, epilog=more, parents=[shared], formatter_class=raw
        )

    ls = command("ls", "list what is cached, and whether it is current", LS, LS_MORE)
    ls.add_argument("wanted", nargs="?", metavar="STAGE|PREFIX", help="a stage, or how a path begins")
    ls.add_argument("--all", action="store_true", help="one line per file")
    show = command("show", "show a file, a table, a figure, the comparison or the claims", SHOW, SHOW_MORE)
    show.add_argument("target", metavar="PATH|NAME")
    show.add_argument("--rows", type=_count, metavar="N", help="rows to show (10 of a file, all of a table or page)")
    why = command("why", "say where a file or a number comes from", WHY, WHY_MORE)
    why.add_argument("target", nargs="+", metavar="PATH | TABLE ROW COLUMN")
    why.add_argument("--depth", type=_count, metavar="N", help="levels of inputs to print (all)")
    summary = command("summary", "count what was built, and the verdicts on the paper's numbers and claims",
            "Say in a few lines what is built and how it compares with the paper.", SUMMARY_MORE)  # fmt: skip
    summary.add_argument("--since", type=float, metavar="SECONDS", help="when a build began, to print how long it took")
    verify = command("verify", "compare every built file with the manifest", VERIFY, VERIFY_MORE)
    lists = verify.add_mutually_exclusive_group()
    lists.add_argument("--repair-list", action="store_true", help="print the files to delete, a line each")
    lists.add_argument("--rebuild-list", action="store_true", help="print the files to build then, a line each")
    if asked == "advise":  # whose options are many, and cost the others time
        from graphdr.cli import advising

        advising.options(command("advise", ADVISING, ADVISE, ADVISE_MORE))
    else:
        commands.add_parser("advise", help=ADVISING)
    return top


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows or levels")
    return int(text)


def main(arguments: Sequence[str]) -> int:
    """Run a command; a mistake is one line and an exit code."""
    _printable()
    try:
        options, here = _parsed(arguments), Path.cwd()
        with contextlib.chdir(project.check_root(getattr(options, "root", here).expanduser())):
            code, answer, text = _run(options, here)
            print(as_json(answer) if options.json else "\n".join(text()))
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 1
    except SystemExit as end:  # of argparse, after its help or its line
        return end.code if isinstance(end.code, int) else 2


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    if arguments and arguments[0][:1] not in ("-", "") and arguments[0] not in COMMANDS:
        hint = names.nearest(arguments[0], COMMANDS) or f"; there are: {', '.join(COMMANDS)}"
        parser().error(f"no command {arguments[0]!r}{hint}")
    return parser("advise" if "advise" in arguments else None).parse_args(arguments)


def _printable() -> None:
    """Let a terminal without Unicode show something else instead of failing."""
    with contextlib.suppress(AttributeError):
        sys.stdout.reconfigure(errors="replace")
        sys.stderr.reconfigure(errors="replace")


def _run(options: argparse.Namespace, here: Path) -> tuple[int, object, Callable[[], list[str]]]:
    """Return the exit code of a command, its JSON and what makes its text; only what it needs is imported."""
    if options.command == "ls":
        from graphdr.cli import listing

        return 0, *listing.run(options.wanted, options.all)
    if options.command == "show":
        from graphdr.cli import showing

        return 0, *showing.run(options.target, here, options.rows)
    if options.command == "why":
        from graphdr.cli import provenance

        if len(options.target) == 1:
            return 0, *provenance.of_file(options.target[0], here, options.depth)
        if len(options.target) == 3:
            return 0, *provenance.of_cell(*options.target, options.depth)
        parser().error(f"why takes a PATH, or a TABLE, a ROW and a COLUMN, not {len(options.target)} words")
    if options.command == "summary":
        from graphdr.cli import summary

        return 0, *summary.run(options.since)
    if options.command == "advise":
        from graphdr.cli import advising

        return 0, *advising.advise(options, here, as_json)
    return _verify(options.repair_list, options.rebuild_list)


def _verify(repair_list: bool, rebuild_list: bool) -> tuple[int, dict, Callable[[], list[str]]]:
    from graphdr.cache import manifest
    from graphdr.cli import integrity

    problems, count = integrity.findings(), len(manifest.load())
    if repair_list:
        listed = integrity.to_delete(problems)
        return 0, {"delete": listed}, lambda: listed
    if rebuild_list:
        plan = project.Plan(project.load_config())
        listed = [path for path in integrity.to_rebuild(problems) if _has_a_job(plan, path)]
        return 0, {"build": listed}, lambda: listed
    altered = sum(finding.kind not in integrity.NOT_LISTED for finding in problems)
    others = f", {len(problems) - altered} files that are not in it" if len(problems) > altered else ""
    lines = [f"{finding.path}: {finding.problem}" for finding in problems]
    lines.append(f"{count} files in the manifest, {altered} of them changed or missing{others}")
    return (1 if problems else 0), {"files": count, "problems": problems}, lambda: lines


def _has_a_job(plan: project.Plan, path: str) -> bool:
    """Tell whether the present configuration has a job that writes a file."""
    from graphdr.cache import paths

    if path in (paths.REPORT, *paths.COMPARISON.values(), *paths.CLAIMS.values()):
        return True
    return any(plan.job(stage, path) for stage in project.OUTPUTS)


def as_json(answer: object) -> str:
    """Return an answer as JSON, records as objects; numbers that JSON does not know are null."""
    return json.dumps(_plain(answer), indent=1, default=str)


def _plain(value):
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
