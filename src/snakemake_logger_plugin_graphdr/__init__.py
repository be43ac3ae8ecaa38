"""What Snakemake prints here: a live display on a terminal, elsewhere a line a minute; warnings and errors at once.

Snakemake finds this package by its name; workflow/profiles/default/config.yaml asks for it.
"""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from snakemake.logging import ColorizingTextHandler
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from graphdr.cache import paths
from graphdr.core.errors import elide
from graphdr.core.terminal import printable
from snakemake_logger_plugin_graphdr.build import Build, clock, name_of, recorded_seconds

ROWS = 4  # running jobs that the display names
PREAMBLE = ("Assuming unrestricted shared filesystem", "Using shell: ")
INTERRUPTED = "Terminating processes on user request"
NEWS = (INTERRUPTED, "Will exit after", "Trying to restart job")  # all else is in Snakemake's own log
# Snakemake's own words about a failed job: its command in full, and that something failed. A line of ours says more.
FAILED = (
    "RuleException:\nCalledProcessError",
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete",
)
LONGEST = 1000  # letters of an error that are shown


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Options of Snakemake: --logger-graphdr-every and --logger-graphdr-table."""

    every: int = field(default=60, metadata={"help": "Seconds between lines where the output is no terminal."})
    table: str = field(default="", metadata={"help": "The table to show as soon as it is built."})


class LogHandler(LogHandlerBase):
    """The progress of a build; Snakemake's own output in a dry run, or with -p, --verbose, --debug-dag or --quiet."""

    writes_to_stream, writes_to_file, has_filter, has_formatter, needs_rulegraph = True, False, False, False, False

    def __post_init__(self) -> None:
        asked = self.common_settings
        self.stream = sys.stdout if asked.stdout else sys.stderr
        self.own = ColorizingTextHandler(asked.nocolor, self.stream)
        self.as_it_is = asked.dryrun or asked.printshellcmds or asked.verbose or asked.debug_dag or asked.quiet
        self.build, self.live, self.cores, self.last, self.heard = None, None, 1, 0.0, ""
        self.interrupted, self.causes = False, set()
        sys.excepthook = hide_interrupts(sys.excepthook)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a message, or take an event into account."""
        event = getattr(record, "event", None)
        try:
            if self.as_it_is:
                self.own.setFormatter(self.formatter)
                self.own.emit(record)
            elif act := getattr(self, f"on_{event}", None):
                act(record)
            elif self._is_news(record, event):
                self._write(self.own.decorate(record, printable(self.format(record))))
        except Exception:  # what is shown never stops a build
            self.handleError(record)

    def on_resources_info(self, record: logging.LogRecord) -> None:
        self.cores = getattr(record, "cores", None) or self.cores

    def on_run_info(self, record: logging.LogRecord) -> None:
        total = {rule: count for rule, count in record.stats.items() if rule != "total"}
        self.build = Build(total, recorded_seconds(), self.cores)
        if self.stream.isatty() and os.environ.get("TERM") != "dumb":
            self.live = start_display(self.build, self.stream, self.common_settings.nocolor)
        else:
            self._tell()

    def on_job_info(self, record: logging.LogRecord) -> None:
        self.build.start(record.jobid, record.rule_name, record.wildcards)

    def on_job_finished(self, record: logging.LogRecord) -> None:
        rule, wildcards, _ = self.build.finish(record.job_id)
        if rule == "make_table" and wildcards["table"] == self.settings.table:
            table = self._table(wildcards["table"]) if _is_here(paths.table(wildcards["table"], "parquet")) else ""
            self._write("\n".join(["", table, self.build.to_come(), ""]))
        if rule == "make_report" and _is_here(page := paths.page(wildcards["page"])):
            self._write(f"{page} can be read.")
        due = not self.live and time.monotonic() - self.last >= self.settings.every
        if due and self.build.done != self.build.total:
            self._tell()

    def on_job_error(self, record: logging.LogRecord) -> None:
        """Say in one line which job failed, why, and where its log is; a repeated error is not printed again."""
        if self.interrupted:
            return
        rule, wildcards, _ = self.build.fail(record.jobid) or (record.rule_name, {}, 0)
        cause = last_error(record.log)
        told = "failed with the same error" if cause in self.causes else f"failed: {cause or 'no error in its log'}"
        self.causes |= {cause} - {""}
        logs = f" (log: {', '.join(record.log)})" if record.log else ""
        self._write(printable(f"error: {name_of(rule, wildcards)} {told}{logs}"))

    def close(self) -> None:
        """End the display and say what was done."""
        if self.live:
            self.live.stop()
            self.live = None
        if self.build:
            self.build.over = True
            self._tell()
            self.build = None
        super().close()

    def _is_news(self, record: logging.LogRecord, event: str | None) -> bool:
        """Tell whether to show a message: all outside of a build, then warnings, errors and few others."""
        self.interrupted = self.interrupted or record.msg.startswith(INTERRUPTED)
        if record.levelno >= logging.WARNING:
            return not record.msg.startswith(FAILED)
        if event or not self.build:
            return not (event or record.msg.startswith(PREAMBLE))
        before, self.heard = self.heard, record.msg
        return record.msg != before and record.msg.startswith(NEWS)

    def _tell(self) -> None:
        self.last = time.monotonic()
        self._write(str(self.build))

    def _write(self, text: str) -> None:
        """Write a text that stays, above the display if there is one."""
        if self.live:
            from rich.text import Text

            self.live.console.print(Text.from_ansi(text), soft_wrap=True)
        else:
            print(text, file=self.stream, flush=True)

    def _table(self, name: str) -> str:
        wide = os.environ | ({"COLUMNS": str(self.live.console.width)} if self.live else {})
        command = [sys.executable, "-m", "graphdr", "show", name]
        shown = subprocess.run(command, env=wide, capture_output=True, text=True, check=False)
        return shown.stdout or shown.stderr


def last_error(logs: Sequence[str]) -> str:
    """Return the error that a job ended with, from the end of its logs, or nothing if they end without one."""
    lines = [line for log in logs if os.path.exists(log) for line in _lines(log)]
    if not lines or not (lines[-1].startswith("error: ") or "Traceback (most recent call last):" in lines):
        return ""
    return elide(lines[-1].removeprefix("error: "), LONGEST)


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as stream:
        return [line for line in stream.read().splitlines() if line.strip()]


def hide_interrupts(hook: Callable) -> Callable:
    """Wrap an ``excepthook`` to print only "interrupted" on Ctrl-C, which Snakemake does not catch while it starts."""

    def show(kind: type[BaseException], error: BaseException, traceback) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print("interrupted", file=sys.stderr)
        else:
            hook(kind, error, traceback)

    return show


def _is_here(path: str) -> bool:
    """Tell whether a result is in this folder, and not in a bucket."""
    return os.path.exists(path)


def start_display(build: Build, stream, nocolor: bool):
    """Show a bar with counts and times, and below it the jobs that run now, until the display is stopped."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def picture() -> Group:
        top = Table.grid(padding=(0, 2), expand=True)
        top.add_column(ratio=1)
        top.add_column(no_wrap=True)
        top.add_row(ProgressBar(build.total.total(), build.done.total(), complete_style="green"), str(build))
        now = [f"{name_of(*job)}, {clock(time.monotonic() - began)}" for *job, began in list(build.running.values())]
        now[ROWS:] = [f"and {len(now) - ROWS} more"] if len(now) > ROWS else []
        return Group(top, *(Text(f"  {line}", "dim", no_wrap=True, overflow="ellipsis") for line in now))

    console = Console(file=stream, force_terminal=True, no_color=nocolor or None)
    printed = sys.stdout.isatty()  # to a file: it stays there
    live = Live(console=console, get_renderable=picture, refresh_per_second=2, transient=True, redirect_stdout=printed)
    live.start()
    return live
