"""The command line: arguments, help, output as text or JSON, and mistakes as one line."""

import argparse
import contextlib
import io
import os
import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

from graphdr import __version__
from graphdr.cli import project
from graphdr.core.errors import UserError, elide, exhausted, needed_for
from graphdr.core.records import Json
from graphdr.core.terminal import Answer, as_json, printable

COMMANDS = {  # by name: module, imported when the command runs, and purpose
    "ls": ("listing", "list what is cached, and whether it is current"),
    "show": ("showing", "show a file, a table, a figure, the comparison or the claims"),
    "why": ("provenance", "say where a file or a number comes from"),
    "summary": ("summary", "count what was built, and the verdicts on the paper's numbers and claims"),
    "verify": ("integrity", "compare every built file with the manifest"),
    "advise": ("advising", "say whether a graph helps on your own data"),
    "migrate": ("migrate", "rewrite a configuration with old names"),
}
HELP = files("graphdr.cli") / "help"
LONGEST = 1000  # characters of a message that are shown
ANYWHERE = ("advise", "migrate")  # commands that need no project


class Parser(argparse.ArgumentParser):
    """A parser that reports mistakes in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"error: {message} ({self.prog} --help)".replace("\n", " ")) + "\n")
        raise AssertionError  # exit does not return


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands; of their help, only the first paragraph stands before the options."""
    pages: dict[str, Json] = {}
    for name in ("graphdr", *COMMANDS):
        description, _, epilog = (HELP / f"{name}.txt").read_text(encoding="utf-8").partition("\n\n")
        as_written = argparse.RawDescriptionHelpFormatter
        pages[name] = {"description": description, "epilog": epilog, "formatter_class": as_written}
    top, shared = Parser(prog="graphdr", **pages["graphdr"]), Parser(add_help=False)
    top.add_argument("--version", action="version", version=f"graphdr {__version__}")
    for each in (top, shared):
        each.add_argument("--root", type=Path, default=argparse.SUPPRESS, help="folder of the project (here)")
    shared.add_argument("--json", action="store_true", help="print JSON, for scripts")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    options = tomllib.loads((HELP / "options.toml").read_text(encoding="utf-8"))
    for name, (_, purpose) in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, parents=[shared], **pages[name])
        group = command.add_mutually_exclusive_group() if name == "verify" else command
        for option, settings in options[name].items():
            converter = {"type": TYPES[settings["type"]]} if "type" in settings else {}
            group.add_argument(option, **settings | converter)
    return top


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows or levels")
    return int(text)


TYPES = {"path": Path, "count": _count, "int": int, "float": float}


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; a mistake is reported in one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # of letters that the terminal cannot show
    command = "graphdr"
    try:
        if arguments and arguments[0][:1] not in ("-", "") and arguments[0] not in COMMANDS:
            hint = project.nearest(arguments[0], COMMANDS) or f"; there are: {', '.join(COMMANDS)}"
            parser().error(f"no command {arguments[0]!r}{hint}")
        options, here = parser().parse_args(arguments), Path.cwd()
        command = options.command
        if command == "why" and len(options.target) not in (1, 3):
            parser().error(f"why takes a PATH, or a TABLE, a ROW and a COLUMN, not {len(options.target)} words")
        root = Path(getattr(options, "root", here)).expanduser()
        if not root.is_dir():
            raise UserError(f"{root}: no such folder")
        needs_project = "root" in options or command not in ANYWHERE
        if needs_project and (lacking := project.missing(root)):
            mistake = f"not the folder of a project (no {' and no '.join(lacking)}); go there, or give --root PATH"
            raise UserError(f"{root}: {mistake}")
        extra = None if command == "advise" else "workflow"
        with contextlib.chdir(root), needed_for(f"graphdr {command}", extra):
            answer: Answer = import_module(f"graphdr.cli.{COMMANDS[command][0]}").run(options, here)
            code, content, text = answer
            print(as_json(content) if options.json else printable("\n".join(text())))
        sys.stdout.flush()
        return code
    except UserError as error:
        print(elide(f"error: {error}", LONGEST), file=sys.stderr)
    except (MemoryError, RecursionError) as error:
        print(exhausted(command, error), file=sys.stderr)
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        pass
    except SystemExit as end:  # from argparse, after help or an error
        return end.code if isinstance(end.code, int) else 2
    return 1
