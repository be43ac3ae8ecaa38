// All numbers of the paper against ours, coloured by verdict; and those that differ, with the reason.

const SHAPES = {
  match: (x, y) => `M${x} ${y}h0`,
  close: (x, y) => `M${x - 3} ${y - 3}h6v6h-6Z`,
  "not contradicted": (x, y) => `M${x} ${y - 5}l5 5l-5 5l-5-5Z`,
  differs: (x, y) => `M${x - 4} ${y - 4}l8 8m0-8l-8 8`,
  "other data": (x, y) => `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0-6 0`,
};

// Every cell with a number of the paper: where it is, and what it is called.
function numbersOfThePaper() {
  return Object.values(DATA.tables).flatMap((table) =>
    table.rows.flatMap((row, r) =>
      row.cells.flatMap((cell, c) => {
        if (!cell.both) return [];
        const { quantity, of } = table.head[c];
        return {
          ...cell,
          id: `t-${table.key}-${r}-${c}`,
          table: table.caption,
          name: [row.label, of, quantity].filter(Boolean).join(", "),
        };
      }),
    ),
  );
}

function showNumbers() {
  const all = numbersOfThePaper();
  const placed = all.filter(({ both: [paper, ours] }) => paper * ours > 0),
    other = all.filter((cell) => !placed.includes(cell));
  const plot = h("div", {
    class: "plot",
    tabindex: "0",
    role: "group",
    "aria-label": "Ours against the paper; the arrow keys go from number to number, Enter opens its table",
    "data-chart": "scatter",
  });
  const holder = h("div", { class: "holder" }, plot),
    live = h("p", { class: "unseen", "aria-live": "polite" }),
    tip = note(plot);
  if (placed.length) redrawn(plot, (width) => pickable(plot, scatterChart(plot, placed, width), tip, live));
  const counted = Object.values(DATA.verdicts);
  fill(byId("numbers"), null, [
    h("h2", null, "All numbers, ours against the paper’s"),
    h(
      "div",
      { class: "beside" },
      placed.length > 0 &&
        h(
          "figure",
          null,
          holder,
          live,
          h(
            "figcaption",
            null,
            "On the diagonal both are equal. Log axes, signs left out; a click on a number opens its table.",
          ),
          other.length > 0 &&
            h(
              "details",
              null,
              h("summary", null, `${other.length} more, which are zero or of opposite signs`),
              h(
                "ul",
                { class: "facts" },
                other.map((cell) => h("li", null, numberLink(cell), " ", verdict(cell.verdict))),
              ),
            ),
        ),
      h(
        "div",
        null,
        tally("On random graphs", DATA.verdicts.synthetic),
        tally("On data sets", DATA.verdicts.real),
        legendOf(
          DATA.meanings.numbers,
          Object.keys(SIGNS).filter((word) => counted.some((part) => part[word])),
        ),
      ),
    ),
  ]);
}

const numberLink = ({ id, name, table, value, paper }) => [
  h("a", { href: `#${id}`, title: table }, maths(name)),
  `: ours ${value}, paper ${paper}`,
];

function tally(title, counts) {
  const parts = Object.entries(counts).filter(([, n]) => n),
    total = parts.reduce((sum, [, n]) => sum + n, 0);
  if (!total) return null;
  return h(
    "div",
    { class: "tally" },
    h("h3", null, `${title}: ${count(total)} numbers`),
    h(
      "div",
      { class: "stack", "aria-hidden": "true" },
      parts.map(([word, n]) => h("span", { class: `s-${word.replace(" ", "-")}`, style: `flex:${n / total}` })),
    ),
    h(
      "ul",
      null,
      parts.map(([word, n]) => h("li", null, h("b", null, n), " ", verdict(word))),
    ),
  );
}

function scatterChart(place, cells, width) {
  const sizes = cells.map(({ both }) => both.map(Math.abs)),
    [low, high] = extent(sizes.flat());
  const height = Math.round(Math.min(560, Math.max(300, width * 0.85))),
    margin = { left: 58, right: 12, top: 26, bottom: 40 };
  const x = logarithmic(low * 0.8, high * 1.25, margin.left, width - margin.right),
    y = logarithmic(low * 0.8, high * 1.25, height - margin.bottom, margin.top);
  const counts = Object.entries(SHAPES)
    .map(([word]) => [word, cells.filter((cell) => cell.verdict === word)])
    .filter(([, own]) => own.length);
  const chart = frame(place, {
    width,
    height,
    margin,
    x,
    y,
    xLabel: "paper, log axis",
    yLabel: "ours, log axis",
    label: `${cells.length} numbers: ours against the paper’s`,
    desc: counts.map(([word, own]) => `${own.length} ${word}`).join(", "),
  });
  chart.marks.append(s("line", { class: "equal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
  const points = sizes.map(([paper, ours]) => [x(paper), y(ours)]);
  for (const [word, own] of counts) {
    const d = own.map((cell) => SHAPES[word](...points[cells.indexOf(cell)].map((at) => Number(at.toFixed(1)))));
    chart.marks.append(
      s("path", { class: `shape v-${word.replace(" ", "-")} shape-${word.replace(" ", "-")}`, d: d.join("") }),
    );
  }
  const tooltip = (i) => {
    const { name, table, paper, value, verdict: word } = cells[i];
    return [
      h("strong", null, maths(name)),
      h("p", null, maths(table)),
      h("p", null, `ours ${value}, paper ${paper} `, verdict(word)),
    ];
  };
  return { ...chart, width, points, tooltip, cells };
}

// Choose a number with the pointer or the arrow keys, and go to its cell.
function pickable(place, chart, tip, live) {
  const order = chart.points.map((_, i) => i).sort((a, b) => chart.points[a][0] - chart.points[b][0]);
  let at = -1;
  const { show, hide } = nearest(chart, tip, (i) => (at = order.indexOf(i)));
  place.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") hide();
    if (event.key === "Enter" && at >= 0) location.hash = chart.cells[order[at]].id;
    if (!step) return;
    event.preventDefault();
    at = (at + step + order.length) % order.length;
    const { name, value, paper, verdict: word } = chart.cells[order[at]];
    show(order[at]);
    live.textContent = `${name}: ours ${value}, paper ${paper}, ${word}`;
  };
  place.onclick = () => at >= 0 && (location.hash = chart.cells[order[at]].id);
  place.onblur = hide;
}

function showDiffering() {
  const section = byId("differs"),
    reasons = new Map();
  for (const cell of numbersOfThePaper().filter((cell) => cell.verdict === "differs")) {
    const why = cell.why ?? "Not known.";
    reasons.set(why, [...(reasons.get(why) ?? []), cell]);
  }
  if (!reasons.size) return section.remove();
  const seen = new Set();
  fill(section, null, [
    h("h2", null, "What differs, and why"),
    h(
      "ul",
      { class: "reasons" },
      [...reasons].map(([why, cells]) =>
        h(
          "li",
          null,
          h("p", null, prose(why, seen)),
          h(
            "div",
            null,
            h("p", { class: "facts" }, maths(cells[0].table)),
            h(
              "ul",
              null,
              cells.map((cell) =>
                h(
                  "li",
                  null,
                  numberLink(cell),
                  cell.panel && ` (5–95 % of our instances: ${cell.panel[0]} to ${cell.panel[2]})`,
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  ]);
}
