import os, subprocess, sys
stages = "fetch_raw tabulate_dataset build_graph compute_basis pose_problem estimate_pilot describe_problem run_bandit measure_batch evaluate_predictors make_table make_figure compare_paper judge_claims make_report".split()
def cpu(code):
    p = subprocess.Popen([sys.executable, "-c", code]); _, st, u = os.wait4(p.pid, 0); return u.ru_utime + u.ru_stime
E="; import os; os._exit(0)"; G="import gc; gc.disable(); "; ends = {"exit": ("", E), "lazy2": (G+"import lazyx; lazyx.lazily('f2py','testing'); ", E), "lazy4": (G+"import lazyx; lazyx.lazily('f2py','testing','ma','polynomial'); ", E),"nogc": (G, E)}
for s in sys.argv[1:] or stages:
    best = {n: [] for n in ends}
    for _ in range(5):
        for n, (a, b) in ends.items():
            best[n].append(cpu(f"{a}import graphdr.__main__, graphdr.stages.{s}{b}"))
    print(s, {n: f"{sorted(v)[0]:.3f} {sorted(v)[2]:.3f}" for n, v in best.items()}, flush=True)
