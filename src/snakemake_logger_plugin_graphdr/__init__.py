"""Output of Snakemake: a live display on a terminal, elsewhere a line per minute; warnings and errors at once.

Snakemake finds this package by its name; workflow/profiles/default/config.yaml selects it.
"""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from snakemake.logging import ColorizingTextHandler
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from graphdr.cache import paths
from graphdr.core.errors import elide
from graphdr.core.terminal import printable
from snakemake_logger_plugin_graphdr.build import Build, Job, clock, recorded_seconds

if TYPE_CHECKING:
    from rich.live import Live

ROWS = 4  # running jobs that the display names
PREAMBLE = ("Assuming unrestricted shared filesystem", "Using shell: ")
INTERRUPTED = "Terminating processes on user request"
NEWS = (INTERRUPTED, "Will exit after", "Trying to restart job")  # everything else is in Snakemake's log
# Snakemake's messages about a failed job, which we replace by one line.
FAILED = (
    "RuleException:\nCalledProcessError",
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete",
)
LONGEST = 1000  # characters of an error that are shown

ExceptHook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Options of Snakemake: --logger-graphdr-every and --logger-graphdr-table."""

    every: int = field(default=60, metadata={"help": "Seconds between lines if the output is no terminal."})
    table: str = field(default="", metadata={"help": "The table to show as soon as it is built."})


class LogHandler(LogHandlerBase):
    """The progress of a build; Snakemake's own output in a dry run, or with -p, --verbose, --debug-dag or --quiet."""

    settings: LogHandlerSettings
    writes_to_stream, writes_to_file, has_filter, has_formatter, needs_rulegraph = True, False, False, False, False

    def __post_init__(self) -> None:
        options = self.common_settings
        self.stream: TextIO = sys.stdout if options.stdout else sys.stderr
        self.snakemake_handler = ColorizingTextHandler(options.nocolor, self.stream)
        self.plain = options.dryrun or options.printshellcmds or options.verbose or options.debug_dag or options.quiet
        self.build: Build | None = None
        self.live: Live | None = None
        self.cores, self.last_line, self.last_message = 1, 0.0, ""
        self.interrupted = False
        self.causes: set[str] = set()
        sys.excepthook = hide_interrupts(sys.excepthook)

    def emit(self, record: Any) -> None:
        """Show a message, or handle an event of Snakemake."""
        event = getattr(record, "event", None)
        try:
            if self.plain:
                self.snakemake_handler.setFormatter(self.formatter)
                self.snakemake_handler.emit(record)
            elif handle := getattr(self, f"on_{event}", None):
                handle(record)
            elif self._is_news(record, event):
                self._write(self.snakemake_handler.decorate(record, printable(self.format(record))))
        except Exception:  # an error in the display must not stop a build
            self.handleError(record)

    def on_resources_info(self, record: Any) -> None:
        self.cores = getattr(record, "cores", None) or self.cores

    def on_run_info(self, record: Any) -> None:
        total = {rule: count for rule, count in record.stats.items() if rule != "total"}
        self.build = Build(total, recorded_seconds(), self.cores)
        if self.stream.isatty() and os.environ.get("TERM") != "dumb":
            self.live = start_display(self.build, self.stream, self.common_settings.nocolor)
        else:
            self._write_progress()

    def on_job_info(self, record: Any) -> None:
        if self.build:
            self.build.start(record.jobid, record.rule_name, record.wildcards)

    def on_job_finished(self, record: Any) -> None:
        if not self.build:
            return
        job = self.build.finish(record.job_id)
        if job.rule == "make_table" and job.wildcards["table"] == self.settings.table:
            path = paths.table(self.settings.table, "parquet")
            table = self._table(self.settings.table) if os.path.exists(path) else ""  # it may be in a bucket
            self._write("\n".join(["", table, self.build.to_come(), ""]))
        if job.rule == "make_report" and os.path.exists(page := paths.page(job.wildcards["page"])):
            self._write(f"{page} can be read.")
        due = not self.live and time.monotonic() - self.last_line >= self.settings.every
        if due and self.build.done != self.build.total:
            self._write_progress()

    def on_job_error(self, record: Any) -> None:
        """Print which job failed, why, and where its log is, in one line; a repeated error is not printed again."""
        if self.interrupted:
            return
        job = (self.build and self.build.fail(record.jobid)) or Job(record.rule_name, {})
        cause = last_error(record.log)
        text = "failed with the same error" if cause in self.causes else f"failed: {cause or 'no error in its log'}"
        self.causes |= {cause} - {""}
        logs = f" (log: {', '.join(record.log)})" if record.log else ""
        self._write(printable(f"error: {job.name} {text}{logs}"))

    def close(self) -> None:
        """End the display and print the final progress."""
        if self.live:
            self.live.stop()
            self.live = None
        if self.build:
            self.build.over = True
            self._write_progress()
            self.build = None
        super().close()

    def _is_news(self, record: logging.LogRecord, event: str | None) -> bool:
        """Return whether to show a message: during a build warnings, errors and few others, otherwise all."""
        self.interrupted = self.interrupted or record.msg.startswith(INTERRUPTED)
        if record.levelno >= logging.WARNING:
            return not record.msg.startswith(FAILED)
        if event or not self.build:
            return not (event or record.msg.startswith(PREAMBLE))
        before, self.last_message = self.last_message, record.msg
        return record.msg != before and record.msg.startswith(NEWS)

    def _write_progress(self) -> None:
        self.last_line = time.monotonic()
        self._write(str(self.build))

    def _write(self, text: str) -> None:
        """Write a text that stays, above the display if there is one."""
        if self.live:
            from rich.text import Text

            self.live.console.print(Text.from_ansi(text), soft_wrap=True)
        else:
            print(text, file=self.stream, flush=True)

    def _table(self, name: str) -> str:
        environment = os.environ | ({"COLUMNS": str(self.live.console.width)} if self.live else {})
        command = [sys.executable, "-m", "graphdr", "show", name]
        shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return shown.stdout or shown.stderr


def last_error(logs: Sequence[str]) -> str:
    """Return the error at the end of the logs of a job, or nothing."""
    lines: list[str] = []
    for log in filter(os.path.exists, logs):
        with open(log, encoding="utf-8", errors="replace") as stream:
            lines += [line for line in stream.read().splitlines() if line.strip()]
    if not lines or not (lines[-1].startswith("error: ") or "Traceback (most recent call last):" in lines):
        return ""
    return elide(lines[-1].removeprefix("error: "), LONGEST)


def hide_interrupts(hook: ExceptHook) -> ExceptHook:
    """Wrap an ``excepthook`` to print only "interrupted" on Ctrl-C, which Snakemake does not catch while it starts."""

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print("interrupted", file=sys.stderr)
        else:
            hook(kind, error, traceback)

    return show


def start_display(build: Build, stream: TextIO, nocolor: bool) -> "Live":
    """Start a display of a progress bar with counts and times, and of the running jobs."""
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
        lines = [f"{job.name}, {clock(time.monotonic() - job.began)}" for job in list(build.running.values())]
        lines[ROWS:] = [f"and {len(lines) - ROWS} more"] if len(lines) > ROWS else []
        return Group(top, *(Text(f"  {line}", "dim", no_wrap=True, overflow="ellipsis") for line in lines))

    console = Console(file=stream, force_terminal=True, no_color=nocolor or None)
    redirect = sys.stdout.isatty()
    live = Live(console=console, get_renderable=picture, refresh_per_second=2, transient=True, redirect_stdout=redirect)
    live.start()
    return live
