// One card a data set: its size, its spectrum, the energy of its reward, a map, and names at both ends of u₂.

function showDatasets() {
  const cards = Object.entries(DATA.datasets).sort(
    ([, a], [, b]) => a.observed - b.observed || a.label.localeCompare(b.label, "en"),
  );
  if (!cards.length) return byId("datasets").remove();
  byId("datasets").append(
    h("h2", null, "Data sets"),
    fold(null, cards.map(([, card]) => card.label).join(", "), () => [
      h(
        "p",
        { class: "lede" },
        "Instance 0 of each. The map places every node at its entries of the two smoothest nontrivial eigenvectors; where neighbours in colour are neighbours in place, a few dimensions suffice.",
      ),
      h(
        "ul",
        { class: "scale", "aria-label": "Colours of the maps" },
        h("li", { class: "low" }, "low reward"),
        h("li", { class: "mid" }, "average"),
        h("li", { class: "high" }, "high reward"),
      ),
      cards.map(([key, card]) => datasetCard(key, card)),
    ]),
  );
}

function datasetCard(key, card) {
  const article = h(
    "article",
    { class: "card", id: `d-${key}`, "aria-labelledby": `d-${key}-title`, "data-dataset": key },
    h("h3", { id: `d-${key}-title` }, card.label),
    Object.entries(card.marks).map(([mark, text]) => h("p", { class: "mark" }, h("b", null, mark), ` ${text}`)),
    h(
      "dl",
      { class: "sizes" },
      [
        ["nodes", count(card.nodes)],
        ["edges", count(card.edges)],
        ["mean degree", number(card.degree, 3)],
        ["k", card.k ?? "–"],
      ].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
    ),
  );
  const k = card.k,
    plots = h("div", { class: "trio" });
  const last = card.energy[Math.min(k ?? 0, card.energy.length - 1)];
  plots.append(
    small("Spectrum of the Laplacian", "spectrum", (place, width) =>
      smallChart(
        place,
        {
          values: card.spectrum,
          first: 1,
          k,
          shift: 1.5,
          stems: true,
          label: `Smallest eigenvalues of ${card.label}`,
          desc: `From ${number(card.spectrum[0], 2)} to ${number(lastOf(card.spectrum), 2)}.`,
          xLabel: "eigenvector u",
          yLabel: "eigenvalue λ",
        },
        width,
      ),
    ),
    small("Reward kept by k dimensions", "energy", (place, width) =>
      smallChart(
        place,
        {
          values: card.energy,
          first: 0,
          k,
          shift: 0,
          top: 1,
          label: `Share of the reward’s energy in k dimensions of ${card.label}`,
          desc: `At k = ${k}: ${number(last, 3)}.`,
          xLabel: "dimensions k",
          yLabel: "‖Uₖᵀθ‖² / ‖θ‖²",
        },
        width,
      ),
    ),
  );
  if (card.map)
    plots.append(
      small("Rewards on u₂ and u₃", "map", (place, width, tip) => nearest(rewardMap(place, card, width), tip)),
    );
  article.append(plots);
  if (card.ends)
    article.append(
      h(
        "div",
        { class: "ends" },
        ["lowest", "highest"].map((end, i) =>
          h(
            "div",
            null,
            h("h4", null, `${end} on u₂`),
            h(
              "ul",
              null,
              card.ends[i].map((title) => h("li", null, title)),
            ),
          ),
        ),
      ),
    );
  article.append(
    card.observed
      ? h("p", { class: "source" }, card.citation, " Licence: ", card.licence, ". ", linkTo(card.page, "Source"))
      : h(
          "p",
          { class: "source" },
          "A random graph: ",
          Object.entries(card.parameters)
            .map(([name, value]) => `${name} ${value}`)
            .join(", "),
          ".",
        ),
  );
  return article;
}

function small(title, kind, draw) {
  const plot = h("div", { class: "plot", "data-chart": kind }),
    holder = h("div", { class: "holder" }, plot),
    tip = note(plot);
  redrawn(plot, (width) => draw(plot, width, tip));
  return h("figure", null, h("h4", null, title), holder);
}
