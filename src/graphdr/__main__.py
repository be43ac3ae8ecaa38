"""``python -m graphdr STAGE CODE JOB`` runs one stage; all other arguments are commands of ``graphdr``."""

import importlib
import json
import os
import sys
import time

from graphdr.core.errors import UserError
from graphdr.core.packed import unpack

# What stages are made of, and what they import when they need it.
ROOMS = {"cache", "graphs", "bandit", "facts", "scores", "panels", "paper", "show", "stages"}
LIBRARIES = (
    "pandas", "scipy.optimize", "scipy.sparse.linalg", "scipy.stats",
    "sklearn.feature_extraction.text", "sklearn.linear_model", "sklearn.metrics",
    *(f"matplotlib.backends.backend_{kind}" for kind in ("agg", "pdf", "svg")),
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run a stage or a command; a mistake of the user's ends in one line and a non-zero exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    job = unpack(arguments[2]) if len(arguments) == 3 else ""
    if not job.startswith("{"):  # the job of a stage is a JSON object
        steady_arithmetic()  # before numpy; threads of linear algebra would also wait for each other at work
        from graphdr.cli.main import main as command  # not above: stages are short, and need none of it

        return command(arguments)
    try:
        run_stage(*arguments[:2], json.loads(job))
        return 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (MemoryError, RecursionError) as error:
        from graphdr.core.terminal import exhausted

        print(exhausted(arguments[0], error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def run_stage(stage: str, code: str, job: dict[str, dict]) -> None:
    """Import a stage, run it on its job, enter what it built, with which code, in the manifest, and note its cost."""
    begin = time.perf_counter()
    steady_arithmetic()  # before numpy

    from graphdr import __version__
    from graphdr.cache import io, manifest, times
    from graphdr.core import spent

    module = importlib.import_module(f"graphdr.stages.{stage}")
    facts = {"stage": stage, "params": job["params"], "code": code, "version": __version__}
    with spent.on(spent.COMPUTE), spent.imports_counted(), io.provenance(**facts) as context:
        module.main(module.Input(**job["input"]), module.Output(**job["output"]), module.Params(**job["params"]))
        outputs = list(job["output"].values())
        manifest.record(stage, job["params"], code, context["inputs"], outputs)
    seconds = time.perf_counter() - begin
    times.record_job(stage, outputs, seconds)
    print(f"{stage}: wrote {', '.join(outputs)} in {seconds:.2f} s")


def steady_arithmetic() -> None:
    """Make results depend neither on the core count nor, where it can be helped, on the model of the processor.

    OpenBLAS has other routines for other processors, which sum in another order; a basis that the problem leaves open,
    such as that of one-hot PCA, is then another one. The routines for AVX2 run on nearly all of them.
    """
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    try:
        with open("/proc/cpuinfo") as stream:
            if " avx2 " in stream.read():
                os.environ["OPENBLAS_CORETYPE"] = "Haswell"
    except OSError:  # another system than Linux
        pass


def prepare() -> None:
    """Import what the stages need, for a process that jobs are forks of."""
    from pkgutil import walk_packages

    steady_arithmetic()  # before numpy
    import graphdr

    modules = [module.name for module in walk_packages(graphdr.__path__, "graphdr.")]
    for name in [*(name for name in modules if name.split(".")[1] in ROOMS), *LIBRARIES]:
        importlib.import_module(name)
    import numpy as np

    from graphdr.bandit.environment import uniform

    uniform(2, 1, 1, np.random.default_rng())  # Numba puts off much of its own start until the first call
    graphdr.cache.times.record_libraries()


if __name__ == "__main__":
    code = main()
    from graphdr.core.forks import end_process

    end_process(code)
