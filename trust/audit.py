"""``python -m trust.audit``: known weaknesses of the locked packages, by pip-audit in an environment of its own."""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from trust.checkout import ROOT

SKIPPED = "audit: skipped, pip-audit or the list of weaknesses cannot be reached (it needs a network)"


def audited(folder: Path) -> list[dict] | None:
    """Return what is known of every package of the lock file, None without a network."""
    python = str(folder / "bin" / "python")
    for step in ([sys.executable, "-m", "venv", str(folder)], [python, "-m", "pip", "install", "-q", "pip-audit"]):
        if subprocess.run(step, capture_output=True, check=False).returncode:
            return None
    audit = [python, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off"]
    audit += ["--format", "json", "--requirement", str(ROOT / "requirements.lock")]
    done = subprocess.run(audit, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return None


def report(packages: list[dict] | None) -> int:
    """Print what is known of packages; return 1 if one has a known weakness, else 0."""
    known = [package for package in packages or [] if "vulns" in package]
    if not known:  # a package that the list does not have is skipped, not sound
        print(SKIPPED)
        return 0
    weak = [(package, found) for package in known for found in package["vulns"]]
    for package, found in weak:
        fixed = ", ".join(found["fix_versions"]) or "none yet"
        print(f"{package['name']} {package['version']}: {found['id']}, fixed in {fixed}")
    print(f"{len(known)} of {len(packages)} packages audited, {len(weak)} known weaknesses")
    return 1 if weak else 0


def try_it() -> int:
    """Report on made-up answers: without a network, without a weakness, and with one."""
    sound = {"name": "numpy", "version": "2.4.6", "vulns": []}
    weak = sound | {"vulns": [{"id": "CVE-0000-0000", "fix_versions": ["2.4.7"]}]}
    with contextlib.redirect_stdout(StringIO()):
        codes = [report(answer) for answer in (None, [{"name": "unlisted"}], [sound], [sound, weak])]
    print("told as it is" if codes == [0, 0, 0, 1] else f"WRONG: exit codes {codes}")
    return int(codes != [0, 0, 0, 1])


def main() -> int:
    """Audit the lock file; the exit code is 1 if a package has a known weakness."""
    parser = argparse.ArgumentParser(prog="python -m trust.audit", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="report on made-up answers, which needs no network")
    if parser.parse_args().tiny:
        return try_it()
    with tempfile.TemporaryDirectory(prefix="graphdr-audit-") as folder:
        return report(audited(Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
