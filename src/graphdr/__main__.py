"""``python -m graphdr STAGE CODE JOB`` runs one stage; all other arguments are commands of ``graphdr``."""

import atexit
import gc
import importlib.util
import json
import os
import sys
import time
from typing import NoReturn

from graphdr.core.errors import UserError


def main(arguments: list[str] | None = None) -> int:
    """Run a stage or a command; a mistake of the user's ends in one line and a non-zero exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not is_job(arguments):
        from graphdr.cli.main import main as command  # not above: stages are short, and need none of it

        return command(arguments)
    try:
        stage, code, job = arguments
        run_stage(stage, code, json.loads(job))
        return 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def is_job(arguments: list[str]) -> bool:
    """Tell whether these are a stage, its code and its job, which is a JSON object."""
    return len(arguments) == 3 and arguments[2].startswith("{")


def run_stage(stage: str, code: str, job: dict[str, dict]) -> None:
    """Import a stage, run it on its job, enter what it built, with which code, in the manifest, and note its cost."""
    begin = time.perf_counter()
    steady_arithmetic()  # before numpy
    gc.disable()  # imports make many objects, and none of them is garbage
    leave_out("f2py", "testing")

    from graphdr import __version__
    from graphdr.cache import io, manifest, times
    from graphdr.core import spent

    module = importlib.import_module(f"graphdr.stages.{stage}")
    gc.freeze()
    gc.enable()
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


def leave_out(*parts: str) -> None:
    """Load parts of NumPy when they are used: SciPy asks for all of them, and stages need none of these."""
    import numpy

    for name in parts:
        if f"numpy.{name}" not in sys.modules:
            spec = importlib.util.find_spec(f"numpy.{name}")
            spec.loader = importlib.util.LazyLoader(spec.loader)
            module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            setattr(numpy, name, module)


def end(code: int) -> NoReturn:
    """End the process at once: to free what it holds, object by object, takes a tenth of the time of a short job."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    code = main()
    end(code) if is_job(sys.argv[1:]) else sys.exit(code)
