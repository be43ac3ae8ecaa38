"""The command line: arguments, help, output as text or JSON, and mistakes as one line."""

import argparse
import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

from graphdr import __version__
from graphdr.cli import names, project
from graphdr.core.errors import UserError

COMMANDS = {
    "ls": "list what is cached, and whether it is current",
    "show": "show a file, a table, a figure, the comparison or the claims",
    "why": "say where a file or a number comes from",
    "summary": "count what was built, and the verdicts on the paper's numbers and claims",
    "verify": "compare every built file with the manifest",
    "advise": "say whether a graph helps on your own data",
}


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are one line."""

    def error(self, message: str) -> None:
        self.exit(2, f"error: {message} ({self.prog} --help)\n")


def parser(asked: str | None = None) -> argparse.ArgumentParser:
    """Build the parser of all commands; the options of some are only there if that command is asked for."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--root", type=Path, default=argparse.SUPPRESS, help="folder of the project (here)")
    shared.add_argument("--json", action="store_true", help="print JSON, for scripts")
    top = Parser(prog="graphdr", **_page("graphdr"))
    top.add_argument("--version", action="version", version=f"graphdr {__version__}")
    top.add_argument("--root", type=Path, default=argparse.SUPPRESS, help="folder of the project (here)")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    add = {
        name: commands.add_parser(name, help=help_, parents=[shared], **_page(name)) for name, help_ in COMMANDS.items()
    }
    add["ls"].add_argument("wanted", nargs="?", metavar="STAGE|PREFIX", help="a stage, or how a path begins")
    add["ls"].add_argument("--all", action="store_true", help="one line per file")
    add["show"].add_argument("target", metavar="PATH|NAME")
    rows = "rows to show (10 of a file, all of a table or page)"
    add["show"].add_argument("--rows", type=_count, metavar="N", help=rows)
    add["why"].add_argument("target", nargs="+", metavar="PATH | TABLE ROW COLUMN")
    add["why"].add_argument("--depth", type=_count, metavar="N", help="levels of inputs to print (all)")
    since = "when a build began, to print how long it took"
    add["summary"].add_argument("--since", type=float, metavar="SECONDS", help=since)
    lists = add["verify"].add_mutually_exclusive_group()
    lists.add_argument("--repair-list", action="store_true", help="print the files to delete, a line each")
    lists.add_argument("--rebuild-list", action="store_true", help="print the files to build then, a line each")
    if asked == "advise":  # whose options are many, and cost the others time
        from graphdr.cli import advising

        advising.options(add["advise"])
    return top


def _page(name: str) -> dict:
    """Return the help of a command: its first paragraph comes before the options, the rest after them."""
    description, _, epilog = (
        (files("graphdr.cli") / "help" / f"{name}.txt").read_text(encoding="utf-8").partition("\n\n")
    )
    return {"description": description, "epilog": epilog, "formatter_class": argparse.RawDescriptionHelpFormatter}


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
        listed = [path for path in integrity.to_rebuild(problems) if plan.job(path)]
        return 0, {"build": listed}, lambda: listed
    altered = sum(finding.kind not in integrity.NOT_LISTED for finding in problems)
    others = f", {len(problems) - altered} files that are not in it" if len(problems) > altered else ""
    lines = [f"{finding.path}: {finding.problem}" for finding in problems]
    lines.append(f"{count} files in the manifest, {altered} of them changed or missing{others}")
    return (1 if problems else 0), {"files": count, "problems": problems}, lambda: lines


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
