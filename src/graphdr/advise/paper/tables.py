"""The evidence behind advice as tables of text: a caption, a head and rows each, for a terminal and for the page."""

from graphdr.advise import logs
from graphdr.advise.paper.decision import FULL, RANDOM
from graphdr.advise.paper.findings import Findings
from graphdr.advise.paper.wording import percent

Table = tuple[str, list[str], list[list[str]]]
MARGINS = {"gamma": "content-PCA", "gamma_graph": "graph-PCA", "gamma_full": "full LinUCB"}
ENERGIES = {"energy": "energy held", "energy_graph": "… by graph-PCA", "energy_content": "… by content-PCA"}
EIGENVALUES = 12


def simulation(findings: Findings) -> list[Table]:
    """Return the tables of the simulation."""
    return [make(findings) for make in (graph, regrets, comparisons, dimensions, margins)]


def log(findings: Findings) -> list[Table]:
    """Return what the log says of every policy, if there is a log."""
    return logs.tables(findings.log.estimates) if findings.log else []


def graph(findings: Findings) -> Table:
    """Say how large the graph is."""
    size, first = findings.graph, next(iter(findings.facts.values()))
    values = " ".join(f"{max(value, 0):.3f}" for value in findings.spectrum[:EIGENVALUES])
    rows = [
        ["nodes in the data, asked for, and connected", f"{size.available:,}, {size.asked:,}, {size.kept:,}"],
        ["edges among the connected nodes", f"{first['edges']:,.0f}"],
        ["components of the graph", f"{size.components:,}"],
        ["mean degree", f"{first['degree']:.1f}"],
        ["smallest eigenvalues", values],
        ["k of the largest eigengap up to 10", f"{first['k_hat_naive']:.0f}"],
    ]
    return "The graph", ["", ""], rows


def regrets(findings: Findings) -> Table:
    """Show the regret of every method at every k."""
    ks, setting, chosen = list(findings.facts), findings.setting, findings.advice.chosen_k
    caption = (
        f"Regret after {setting.horizon:,} simulated rounds of {setting.arms} candidates, mean of "
        f"{setting.seeds} seeds ± standard error over them (shuffled and length: of {setting.shuffled_copies} copies); "
        "* the k chosen"
    )
    rows = []
    for method, by_k in findings.regret.items():
        means = {k: f"{regret.mean:.1f} ± {regret.sem:.1f}" for k, regret in by_k.items()}
        if method in (FULL, RANDOM):
            cells = [next(iter(means.values())), *["same"] * (len(ks) - 1)]
        else:
            cells = [means[k] + ("*" if chosen.get(method) == k else "") for k in ks]
        rows.append([findings.labels[method], *cells])
    return caption, ["method", *(f"k = {k}" for k in ks)], rows


def comparisons(findings: Findings) -> Table:
    """Compare the best graph method with all others, on the seeds that chose nothing."""
    advice, setting, labels = findings.advice, findings.setting, findings.labels
    best = advice.best_graph_method
    caption = (
        f"{labels[best]} at k = {advice.chosen_k[best]} against all others, each at its own k: k was chosen on "
        f"{setting.choosing_seeds} seeds, these are the other {setting.seeds - setting.choosing_seeds}"
    )
    rows = []
    for method, gap in advice.against.items():
        sign = "better" if gap.low > 0 else "worse" if gap.high < 0 else ""
        verdict = f"{sign} ({gap.sure})" if sign else "not clearly better or worse"
        rows.append([labels[method], f"{gap.estimate:+.1f}", f"{gap.low:+.1f} … {gap.high:+.1f}", verdict])
    return caption, ["other method", "its regret is more by", "95 % interval", f"so {labels[best]} is"], rows


def dimensions(findings: Findings) -> Table:
    """Show what k dimensions of the graph hold of the reward."""
    energies = _present(findings, ENERGIES)
    rows = [
        [str(k), f"{fact['zeta']:.3f}", *(percent(fact[name]) for name in energies), f"{fact['eigengap']:.4f}"]
        for k, fact in findings.facts.items()
    ]
    return "How much of the reward k dimensions hold", ["k", "ζ_k", *energies.values(), "eigengap"], rows


def margins(findings: Findings) -> Table:
    """Show the capture margins with their intervals."""
    names = _present(findings, MARGINS)
    rows = [
        [str(k), *(f"{fact[m]:+.2f} ({fact[f'{m}_low']:+.2f} … {fact[f'{m}_high']:+.2f})" for m in names)]
        for k, fact in findings.facts.items()
    ]
    head = ["k", *(f"against {label}" for label in names.values())]
    return "Γ_k, the margin of the graph against another method", head, rows


def _present(findings: Findings, labels: dict[str, str]) -> dict[str, str]:
    """Return those facts that were computed: without content there are none about it."""
    return {name: label for name, label in labels.items() if name in next(iter(findings.facts.values()))}
