import json, os, subprocess, sys, time, glob
sys.path.insert(0,".")
from graphdr.plan import config, design, jobs
from pathlib import Path
d = design.expand(config.load(Path("config.yaml")), [])
def run(stage, **keys):
    job = jobs.JOBS[stage](d, **keys)
    p = subprocess.Popen([sys.executable, "-m", "graphdr", stage, "none", job.as_json()], stdout=subprocess.DEVNULL)
    _, st, u = os.wait4(p.pid, 0)
    name = min(job.output).replace("/", "~")
    c = json.load(open(f"results/times/{stage}/{name}.json"))["cpu"]
    print(stage, {k: round(v,3) for k,v in c.items()}, "sum", round(sum(c.values()),3), "wait4", round(u.ru_utime+u.ru_stime,3))
g = next(iter(d.graphs))
for stage in ("build_graph","compute_basis","pose_problem","describe_problem","run_bandit","measure_batch","make_table","make_figure"):
    ks = [k for k in jobs.keys(d, stage)]
    for k in ks:
        if all(Path(f).exists() for f in jobs.JOBS[stage](d, **k).files()) and Path(min(jobs.JOBS[stage](d, **k).output)).exists():
            run(stage, **k); break
