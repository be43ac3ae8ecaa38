"""The evidence behind advice as tables of text: a caption, a head and rows each, for a terminal and for the page."""

from graphdr.advise import logs
from graphdr.advise.decision import FULL, RANDOM
from graphdr.advise.wording import percent

Table = tuple[str, list[str], list[list[str]]]
MARGINS = {"gamma": "content-PCA", "gamma_graph": "graph-PCA", "gamma_full": "full LinUCB"}
EIGENVALUES = 12


def of(found: dict) -> list[Table]:
    """Return the tables of the simulation."""
    return [graph(found), regrets(found), comparisons(found), dimensions(found), margins(found)]


def log(found: dict) -> list[Table]:
    """Show what the log says of every policy, if one was given."""
    return logs.tables([logs.Row(**row) for row in found["log"]["estimates"]]) if found["log"] else []


def graph(found: dict) -> Table:
    """Say how large the graph is."""
    seen, first = found["graph"], next(iter(found["facts"].values()))
    values = " ".join(f"{max(value, 0):.3f}" for value in found["spectrum"][:EIGENVALUES])
    rows = [
        ["nodes in the data, asked for, and connected", f"{seen['available']:,}, {seen['asked']:,}, {seen['kept']:,}"],
        ["edges among the connected nodes", f"{first['edges']:,.0f}"],
        ["components of the graph", f"{seen['components']:,}"],
        ["edges a node", f"{first['degree']:.1f}"],
        ["smallest eigenvalues", values],
        ["k of the largest eigengap up to 10", f"{first['k_hat_naive']:.0f}"],
    ]
    return "The graph", ["", ""], rows


def regrets(found: dict) -> Table:
    """Show the regret of every method at every k."""
    ks, setting, chosen = list(found["facts"]), found["setting"], found["advice"]["chosen_k"]
    caption = (
        f"Regret after {setting['horizon']:,} simulated rounds of {setting['arms']} candidates, mean of "
        f"{setting['seeds']} seeds ± standard error (shuffled: of {setting['shuffled_copies']} copies); * the k chosen"
    )
    rows = []
    for method, own in found["regret"].items():
        if method in (FULL, RANDOM):
            cells = [_cell(next(iter(own.values())))] + ["same"] * (len(ks) - 1)
        else:
            cells = [_cell(own[k]) + ("*" if chosen.get(method) == k else "") for k in ks]
        rows.append([found["labels"][method], *cells])
    return caption, ["method", *(f"k = {k}" for k in ks)], rows


def _cell(value: dict) -> str:
    return f"{value['mean']:.1f} ± {value['sem']:.1f}"


def comparisons(found: dict) -> Table:
    """Compare the best graph method with all others, on the seeds that chose nothing."""
    advice, setting, labels = found["advice"], found["setting"], found["labels"]
    graph = advice["best_graph_method"]
    judging = setting["seeds"] - setting["choosing_seeds"]
    caption = (
        f"{labels[graph]} at k = {advice['chosen_k'][graph]} against all others, each at its own k: k "
        f"was chosen on {setting['choosing_seeds']} seeds, these are the other {judging}"
    )
    rows = [
        [labels[method], f"{own['estimate']:+.1f}", f"{own['low']:+.1f} … {own['high']:+.1f}", _verdict(own)]
        for method, own in advice["against"].items()
    ]
    return caption, ["other method", "its regret is more by", "95 % interval", "so it is"], rows


def _verdict(own: dict) -> str:
    if own["low"] > 0:
        return f"better ({own['sure']})"
    if own["high"] < 0:
        return f"worse ({own['sure']})"
    return "not clearly better or worse"


def dimensions(found: dict) -> Table:
    """Show what k dimensions of the graph hold of the reward."""
    facts = found["facts"]
    shown = {
        "zeta": "ζ_k",
        "energy": "energy held",
        "energy_graph": "… by graph-PCA",
        "energy_content": "… by content-PCA",
    }
    shown = {name: label for name, label in shown.items() if name in next(iter(facts.values()))}
    rows = [
        [
            str(k),
            f"{own['zeta']:.3f}",
            *(percent(own[name]) for name in shown if name != "zeta"),
            f"{own['eigengap']:.4f}",
        ]
        for k, own in facts.items()
    ]
    return "How much of the reward k dimensions hold", ["k", *shown.values(), "eigengap"], rows


def margins(found: dict) -> Table:
    """Show the capture margins with their intervals."""
    facts = found["facts"]
    shown = {name: label for name, label in MARGINS.items() if name in next(iter(facts.values()))}
    rows = [
        [str(k), *(f"{own[m]:+.2f} ({own[f'{m}_low']:+.2f} … {own[f'{m}_high']:+.2f})" for m in shown)]
        for k, own in facts.items()
    ]
    return (
        "Γ_k, the margin of the graph against another method",
        ["k", *(f"against {label}" for label in shown.values())],
        rows,
    )
