"""``python -m graphdr STAGE CODE JOB`` runs one stage; all other arguments are commands of ``graphdr``."""

import importlib
import json
import os
import sys
import time
from typing import TYPE_CHECKING

from graphdr.core.errors import UserError, exhausted
from graphdr.core.records import unpack

if TYPE_CHECKING:
    from graphdr.core.records import Json

# Subpackages and libraries that stages import, some of them inside functions.
SUBPACKAGES = {"cache", "graphs", "bandit", "facts", "scores", "store", "paper", "show", "stages"}
LIBRARIES = (
    "pandas", "scipy.optimize", "scipy.sparse.linalg", "scipy.stats",
    "sklearn.feature_extraction.text", "sklearn.linear_model", "sklearn.metrics",
    *(f"matplotlib.backends.backend_{kind}" for kind in ("agg", "pdf", "svg")),
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run a stage or a command; a mistake of the user is reported in one line, with a non-zero exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    job = unpack(arguments[2]) if len(arguments) == 3 else ""
    if not job.startswith("{"):  # the job of a stage is a JSON object
        pin_arithmetic()  # before numpy
        from graphdr.cli.main import main as command  # here, since stages do not need it

        return command(arguments)
    try:
        run_stage(arguments[0], arguments[1], json.loads(job))
        return 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
    except (MemoryError, RecursionError) as error:
        print(exhausted(arguments[0], error), file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 1


def run_stage(stage: str, code: str, job: "Json") -> None:
    """Run a stage on its job, and write its manifest entry and its cost."""
    begin = time.perf_counter()
    pin_arithmetic()  # before numpy

    from graphdr import __version__
    from graphdr.cache import io, manifest, times
    from graphdr.core.records import from_json
    from graphdr.core.rng import recorded_streams

    module = importlib.import_module(f"graphdr.stages.{stage}")
    input, output = from_json(module.Input, job["input"]), from_json(module.Output, job["output"])
    params = from_json(module.Params, job["params"])
    outputs = list(job["output"].values())
    provenance = io.provenance(stage=stage, params=job["params"], code=code, version=__version__)
    with recorded_streams(), provenance as facts:
        module.main(input, output, params)
        manifest.record(stage, job["params"], code, facts.inputs, outputs)
    seconds = time.perf_counter() - begin
    times.record_job(stage, outputs, seconds)
    print(f"{stage}: wrote {', '.join(outputs)} in {seconds:.2f} s")


def pin_arithmetic() -> None:
    """Make results independent of the number of cores and, where possible, of the model of the processor.

    OpenBLAS sums in another order on another processor, which changes a basis that is not unique, such as that of
    one-hot PCA. Its routines for AVX2 run on nearly all processors.
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
    """Import all that the stages need, in the server that forks their jobs."""
    from pkgutil import walk_packages

    pin_arithmetic()  # before numpy
    import graphdr
    from graphdr.cache import times

    modules = [module.name for module in walk_packages(graphdr.__path__, "graphdr.")]
    for name in [*(name for name in modules if name.split(".")[1] in SUBPACKAGES), *LIBRARIES]:
        importlib.import_module(name)
    import numpy as np

    from graphdr.bandit.environment import uniform

    uniform(2, 1, 1, np.random.default_rng())  # Numba starts up at the first call
    times.record_libraries()


if __name__ == "__main__":
    code = main()
    from graphdr.core.forks import end_process

    end_process(code)
