"""Points of docs/findings.md about the theory: theorems, bounds and diagnostics in numbers."""

from typing import TYPE_CHECKING

import numpy as np

from graphdr.core.terminal import pipe_table
from graphdr.theory.constants import PILOT_SHARE

if TYPE_CHECKING:
    from docs.findings import Results


def base_g(r: "Results") -> str:
    """G_k of two data sets: a mean over a study, or the problem itself"""
    body = []
    for k in ("mind_small", "ogbn_arxiv"):
        study = "diagnostic_study", "all", f"g_{k}"
        body.append([r.label(k), r.paper(*study), r.ours(*study), r.ours("dataset_construction", k, "g")])
    factors = r.config["observed"]
    return (
        "The paper does not say on which problem its two values were measured. `diagnostic_study` compares them with "
        f"means over the problems of the study; the problem of the other tables (n = {factors['n']:,}, k = "
        f"{factors['k']}, 1,000 candidate sets) gives others.\n\n"
    ) + "\n".join(pipe_table(["data set", "paper", "ours: mean of the study", "ours: the problem itself"], body))


def robust(r: "Results") -> str:
    """The robust theorem: which gap, and how many bins"""
    rows = _rows(r, "robust_bins")
    bins = ("four_bins", "three_bins", "two_bins")
    body = []
    for row in rows:
        spread = "{:.2f} ({:.2f} … {:.2f})".format(
            *np.quantile(_panel(r, "robust_bins", row, "spearman"), [0.5, 0.05, 0.95])
        )
        body.append([row, spread, *(f"{100 * r.number('robust_bins', row, name):.0f} %" for name in bins)])
    gap = [r.number("theory_flipped", row, "theory_gap") for row in _rows(r, "theory_flipped")]
    printed = r.paper("robust_theorem", "pooled", "spearman_regret_rho")
    return (
        f"The paper prints the rank correlation of the regret with ρ_k ({printed}) without a formula for ρ_k. The "
        "experiments project on u_2 … u_(k+1), and ours takes the gap above them, which lies among the eigenvalues of "
        f"noise. The theory's gap, λ_(k+1) − λ_k, is {gap[0]:.2f} at k = 5. Whether median regrets rise over bins of "
        "ρ_k depends on the number of bins; the claim is about four.\n\n"
    ) + "\n".join(
        pipe_table(["ρ_k", "Spearman, median (5–95 %)", "rise over four bins", "over three", "over two"], body)
    )


def pilots(r: "Results") -> str:
    """Theorem 4 with an error that is known before the run"""
    rows = _rows(r, "theory_pilot")
    pairs = [[_panel(r, "theory_pilot", row, name) for name in ("pilot_error", "pilot_error_bound")] for row in rows]
    true, bound = (np.concatenate(column) for column in zip(*pairs, strict=True))
    slack, above = bound / true, (true > bound).sum()
    realised = max(_panel(r, "theory_pilot", row, "ratio").max() for row in rows)
    vacuous = [r.number("theory_pilot", row, "bound") / r.number("theory_pilot", row, "worst") for row in rows]
    share = PILOT_SHARE * r.config["protocol"]["delta"]
    return (
        "The theorem asks for an e_r that the error of the pilot's residual does not exceed. The other tables use the "
        "true error, which nobody knows. Known beforehand are the pulls and the noise: the squared error is a sum of "
        f"weighted chi-squares, and we take a value that it exceeds with probability {share:g} at most. The run may "
        f"fail with the rest of δ. On {len(true)} problems and instances this e_r is {slack.min():.2f} to "
        f"{slack.max():.2f} times the true error, which exceeds it in {above}. The largest share of the bound that was "
        f"realised is {realised:.4f}, and the bound is {min(vacuous):,.0f} to {max(vacuous):,.0f} times what the worst "
        "policy loses: it holds, and it is vacuous. All rows are in the table `theory_pilot`."
    )


def corollary(r: "Results") -> str:
    """Corollary 1: GraphDR over full LinUCB, in the bounds and in the regret"""
    rows = _rows(r, "theory_dimension")
    pairs = [[_panel(r, "theory_dimension", row, name) for name in ("bound_over_full", "regret_ratio")] for row in rows]
    body = [[row, *(f"{np.median(panel):.3f}" for panel in pair)] for row, pair in zip(rows, pairs, strict=True)]
    below = [
        row for row, (allowed, realised) in zip(rows, pairs, strict=True) if np.median(realised) < np.median(allowed)
    ]
    return (
        "The bound of Theorem 1 in k = 5 dimensions over the same bound in n, and the ratio of the regrets at constant "
        f"width; medians over the instances. The ratio of the regrets is below that of the bounds for n = "
        f"{', '.join(below) or 'none'}.\n\n"
    ) + "\n".join(pipe_table(["n", "ratio of the bounds", "ratio of the regrets"], body))


def rotation(r: "Results") -> str:
    """Davis and Kahan in the paper's convention"""
    rows = _rows(r, "theory_flipped")
    cells = [r.cells["theory_flipped", row, "qualifies"] for row in rows]
    graphs = sum(int(cell["n"]) for cell in cells)
    apply = sum(round(cell["value"] * cell["n"]) for cell in cells)
    largest = max(r.number("theory_flipped", row, "largest") for row in rows)
    gaps = _panel(r, "theory_flipped", rows[0], "theory_gap")
    swept = [_panel(r, "noise_sweep", row, "eps_l") for row in _rows(r, "noise_sweep") if float(row)]
    near = sum(np.sum(eps <= gaps / 4) for eps in swept)
    return (
        "The lemma is about u_1 … u_k and the gap above them, and asks for 0 < ε_L ≤ Δ_k / 4. This holds "
        f"for {near} of the {sum(map(len, swept))} noisy graphs of the noise sweep. Of {graphs} graphs with "
        f"{100 * float(rows[0]):g} % to {100 * float(rows[-1]):g} % of the pairs flipped, it holds for {apply}; their "
        f"projectors differ by at most {largest:.3f} of what the lemma allows. (The table `theory_rotation` has the "
        "convention of the experiments, with one direction of weights, rescaled.)"
    )


def lengths(r: "Results") -> str:
    """L_x = 1 is loose"""
    rows = [row for row in _rows(r, "theory_summary") if ("theory_summary", row, "longest_feature") in r.cells]
    longest = np.concatenate([_panel(r, "theory_summary", row, "longest_feature") for row in rows])
    return (
        "Every bound takes L_x = 1, the length of an arm before the projection. The longest arm after it has length "
        f"{longest.min():.2f} to {longest.max():.2f} on the {len(rows)} problems of `theory_summary`."
    )


def _rows(r: "Results", table: str) -> list[str]:
    """Return the rows of a table that has any."""
    return list(dict.fromkeys(row for name, row, _ in r.cells if name == table)) or r.cells[table, "any row", "any"]


def _panel(r: "Results", *key: str) -> np.ndarray:
    """Return the values of all instances, the value alone where there is one."""
    cell = r.cells[key]
    return np.asarray(cell["panel"]) if len(cell["panel"]) else np.array([cell["value"]])


THEORY = (robust, pilots, corollary, rotation, lengths)
