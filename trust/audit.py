"""``python -m trust.audit``: known weaknesses of the locked packages, by pip-audit in an environment of its own."""

import json
import subprocess
import sys
import tempfile
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


def main() -> int:
    """Audit the lock file; the exit code is 1 if a package has a known weakness."""
    with tempfile.TemporaryDirectory(prefix="graphdr-audit-") as folder:
        packages = audited(Path(folder))
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


if __name__ == "__main__":
    sys.exit(main())
