"""Python where some packages are not installed."""

import subprocess
import sys

WORKFLOW = ("igraph", "matplotlib", "networkx", "pandas", "polars", "pydantic", "rich", "snakemake", "yaml")
START = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Lacking())
"""
COMMAND = "from graphdr.__main__ import main; sys.exit(main(sys.argv[1:]))"  # the code of ``graphdr``


def python_without(
    packages: tuple[str, ...], code: str, *arguments: str, **options
) -> subprocess.CompletedProcess[str]:
    """Run code as if the packages were not there; it may use ``sys``."""
    command = [sys.executable, "-c", START.format(packages=packages) + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)
