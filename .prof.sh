# cProfile of Snakemake on the tiny configuration
set -e
rm -rf /tmp/w/account_tiny; mkdir -p /tmp/w/account_tiny
.venv/bin/python -c "
import sys; sys.path.insert(0,'.')
from tests.support.project import lay_out
from pathlib import Path
lay_out(Path('/tmp/w/account_tiny'))"
cd /tmp/w/account_tiny
/tmp/w/account/.venv/bin/python -m cProfile -o /tmp/w/account/.tiny.prof -m snakemake --cores 2 --quiet all > log 2>&1 || tail -5 log
cat results/times/snakemake.json
