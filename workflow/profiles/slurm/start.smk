# Needs: nothing. Makes: what a run is started with: checks on a cluster, and elsewhere no limit of jobs per second.
import shutil
import subprocess


# Seconds of work, or what must run where the network is: a job in a queue would cost more.
localrules:
    paper,
    evaluate_predictors,
    make_table,
    make_figure,
    compare_paper,
    judge_claims,
    make_report,


def slurm(*command) -> subprocess.CompletedProcess:
    """Run a command of SLURM; one that does not answer fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "no answer within a minute")


def last_line(done: subprocess.CompletedProcess) -> str:
    """Return what a command said last about its failure."""
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def refusal(job) -> str | None:
    """Return what SLURM says against a job of this size, partition and account, if anything."""
    wanted = {"partition": "slurm_partition", "account": "slurm_account", "mem": "mem_mb", "time": "runtime"}
    given = [f"--{option}={job.resources[name]}" for option, name in wanted.items() if job.resources.get(name)]
    tried = slurm("sbatch", "--test-only", *given, "--wrap=true")
    return last_line(tried).removeprefix("allocation failure: ") if tried.returncode else None


def check_slurm() -> None:
    """End with one line if jobs cannot be submitted, instead of a failure of each of them."""
    where = "see the top of workflow/profiles/slurm/config.yaml"
    if not shutil.which("sbatch"):
        sys.exit(f"error: no SLURM here: there is no command sbatch. Leave out the profile, or {where}.")
    partitions = slurm("sinfo", "--noheader", "--format=%R")
    if partitions.returncode:
        sys.exit(f"error: SLURM does not answer: {last_line(partitions)}")
    names = ", ".join(sorted(set(partitions.stdout.split())))
    for job in {job.rule.name: job for job in workflow.dag.needrun_jobs() if not job.is_local}.values():
        if reason := refusal(job):
            sys.exit(f"error: SLURM refuses jobs of {job.rule.name}: {reason}. Partitions: {names}; {where}.")


def leftovers() -> list[str]:
    """Return the SLURM jobs that a run of Snakemake in this folder has left in the queue when it was killed."""
    listed = slurm("squeue", f"--user={os.getuid()}", "--noheader", "--format=%A|%Z|%k").stdout.splitlines()
    jobs = [line.split("|", 2) for line in listed]
    return [number for number, folder, comment in jobs if folder == os.getcwd() and comment.startswith("rule_")]


def cancel_leftovers() -> None:
    """Cancel them and wait for their end: as they end, they remove files that the next plan would count on."""
    print(f"Cancelling SLURM jobs of the run that was killed: {', '.join(leftovers())}", file=sys.stderr)
    slurm("scancel", *leftovers())
    while leftovers():
        time.sleep(1)


if "--unlock" in sys.argv and shutil.which("squeue") and leftovers():
    cancel_leftovers()


def check_start() -> None:
    """End with one line if the executor is SLURM's and jobs cannot be submitted, or earlier ones are still there."""
    if hasattr(workflow.executor_settings, "status_command"):
        check_slurm()
        if leftovers():
            sys.exit("error: SLURM jobs of an earlier run are in the queue; run snakemake --unlock, then this again")
