"""A SLURM cluster of one machine: munged, slurmctld and slurmd, with all their files in a folder of their own."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PR_SET_PDEATHSIG = 1
PARTITION = "main"

CONFIG = """\
ClusterName=graphdr
SlurmctldHost=localhost
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed.txt
MinJobAge=300
SlurmdParameters=config_overrides
NodeName=localhost CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName={partition} Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


class NotStarted(Exception):
    """SLURM is installed, but its daemons do not run on this machine."""


@contextmanager
def running(folder: Path, cpus: int = 4, memory: int = 16000) -> Iterator[dict[str, str]]:
    """Start the daemons and hand out the environment in which SLURM's commands find them; stop them at the end.

    More CPUs and memory than the machine has may be promised: jobs then share what there is.
    """
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(parents=True)
        (folder / name).chmod(0o755)  # munge refuses others
    config = folder / "slurm.conf"
    controller, daemon = free_ports(2)
    settings = {"controller": controller, "daemon": daemon, "cpus": cpus, "memory": memory, "partition": PARTITION}
    config.write_text(CONFIG.format(folder=folder, **settings))
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    environment = os.environ | {
        "SLURM_CONF": str(config),
        "PATH": f"{_commands(folder)}:{os.environ['PATH']}:/usr/sbin",
    }
    own = {name: f"--{name}-file={folder}/munge/{name}" for name in ("key", "log", "pid", "seed")}
    daemons = {
        "munged": ["munged", "--foreground", f"--socket={folder}/munge/socket", *own.values()],
        "slurmctld": ["slurmctld", "-D", "-f", str(config)],
        "slurmd": ["slurmd", "-D", "-N", "localhost", "-f", str(config)],
    }
    with ExitStack() as stack:
        try:
            for name, command in daemons.items():
                stack.enter_context(_daemon(name, command, folder, environment))
                if name == "munged":
                    _wait("munged", (folder / "munge" / "socket").exists)
            _wait("the node", lambda: "idle" in ask(environment, "sinfo", "--noheader", "--format=%T"))
        except SystemExit as error:
            raise NotStarted(str(error)) from None
        try:
            yield environment
        finally:  # the processes of a job outlive the daemons
            ask(environment, "scancel", f"--user={os.getuid()}")
            _wait("the end of all jobs", lambda: not ask(environment, "squeue", "--noheader"))


def ask(environment: dict[str, str], *command: str) -> str:
    """Run one of SLURM's commands and return what it prints."""
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.strip()


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("localhost", 0))) for _ in range(count)]
        return [opened.getsockname()[1] for opened in sockets]


def _commands(folder: Path) -> Path:
    """Make a folder for PATH with an srun that knows this cluster: the plugin takes SLURM_CONF away from its jobs."""
    commands = folder / "bin"
    commands.mkdir()
    srun = commands / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF="{folder}/slurm.conf" exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    return commands


@contextmanager
def _daemon(name: str, command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Run a daemon in the foreground of a process of its own, which ends with this one even if this one is killed."""
    libc = ctypes.CDLL(None)
    with open(folder / f"{name}.out", "w") as printed:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=printed,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
            start_new_session=True,  # Ctrl-C reaches this process alone, which then stops the daemons in order
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(what: str, is_there, seconds: int = 60) -> None:
    end = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > end:
            raise SystemExit(f"error: waited {seconds} s in vain for {what}")
        time.sleep(0.2)
