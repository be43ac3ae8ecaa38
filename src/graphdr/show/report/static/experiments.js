// One folded section an experiment: its curves and panel with their controls, and its tables.

const CURVES = 6; // that a plot shows unless the reader asks for more

function showExperiments() {
  const theorem = Object.keys(DATA.experiments).find((key) => bounded(DATA.experiments[key]).length);
  const groups = DATA.groups.map((group, place) =>
    h(
      "section",
      { class: "group", id: `g-${place}`, "aria-label": group.title },
      h("h3", { class: "grouped" }, group.title),
      group.experiments.map((key) => experimentFold(key, DATA.experiments[key])),
      group.experiments.includes(theorem) && fold("bounds", "Bounds against realised regret", boundsOf),
    ),
  );
  byId("experiments").append(...groups);
  const [only, ...others] = byId("experiments").querySelectorAll(".group .fold");
  if (only && !others.length) unfold(only); // on a page of one experiment there is nothing to choose
}

// The problems of an experiment whose runs have a bound.
const bounded = (spec) =>
  (spec.problems ?? []).filter((problem) => Object.values(problem.curves).some((curve) => curve.bound));

function experimentFold(key, spec) {
  const tables = Object.values(DATA.tables).filter((table) => table.experiment === key),
    counts = {};
  for (const { verdict: word } of tables.flatMap((table) => table.rows.flatMap((row) => row.cells)))
    if (word) counts[word] = (counts[word] ?? 0) + 1;
  const words = Object.keys(SIGNS).filter((word) => counts[word]);
  return fold(
    `e-${key}`,
    spec.title,
    () =>
      h(
        "div",
        { class: "experiment", "data-experiment": key },
        spec.cloud ? cloudOf(spec) : chartsOf(spec),
        tables.map((table, place) =>
          place ? h("details", null, h("summary", null, maths(table.caption)), numberTable(table)) : numberTable(table),
        ),
      ),
    words.length > 0 &&
      h(
        "span",
        { class: "counts" },
        words.map((word) => verdict(word, `${counts[word]} ${word}`)),
      ),
  );
}

// The methods that a plot starts with: the one that all are compared with, then the others, controls last.
function firstCurves(spec) {
  const rank = (method) => (method === spec.against ? 0 : DATA.methods[method].control ? 2 : 1);
  return [...spec.methods].sort((a, b) => rank(a) - rank(b)).slice(0, CURVES);
}

function about(problem) {
  const panel = problem.instances > 1 ? `${problem.instances} instances` : "one instance";
  return `${problem.title}: n = ${count(problem.n)}, k = ${problem.k}, T = ${count(problem.horizon)}, ${problem.seeds} seeds, ${panel}.`;
}

function chartsOf(spec) {
  const built = spec.problems.filter((problem) => Object.keys(problem.curves).length);
  if (!built.length) return h("p", { class: "notice" }, "Nothing is built of this experiment yet.");
  const first = firstCurves(spec),
    hidden = new Set(spec.methods.filter((method) => !first.includes(method)));
  const state = { problem: built[0], hidden, log: true, errors: true, spread: true };
  const some = (test) => built.some((problem) => Object.values(problem.curves).some(test));
  const lines = h("div", {
    class: "plot",
    tabindex: "0",
    role: "group",
    "aria-label": "Regret curves; the arrow keys read out values",
    "data-chart": "curves",
  });
  const strip = h("div", { class: "plot", "data-chart": "panel" });
  const keys = h("div"),
    facts = h("p", { class: "facts" }),
    live = h("p", { class: "unseen", "aria-live": "polite" });
  const holders = [h("div", { class: "holder" }, lines), h("div", { class: "holder" }, strip)],
    tips = [note(lines), note(strip)];
  const shown = () => byEnd(state.problem, spec.methods).filter((method) => !state.hidden.has(method));
  const drawLines = redrawn(lines, (width) => {
    readout(
      lines,
      lineChart(lines, state.problem, shown(), { ...state, name: state.problem.title }, width),
      state.problem,
      tips[0],
      live,
      false,
    );
  });
  const drawStrip = redrawn(strip, (width) =>
    stripReadout(stripChart(strip, state.problem, shown(), state.log, state.problem.title, width), tips[1]),
  );
  const draw = () => {
    drawLines();
    drawStrip();
  };
  const take = (problem) => {
    state.problem = problem;
    facts.textContent = about(problem);
    keys.replaceChildren(legend(byEnd(problem, spec.methods), state.hidden, draw));
    draw();
  };
  const set = (name) => (on) => {
    state[name] = on;
    draw();
  };
  const controls = h(
    "div",
    { class: "controls" },
    built.length > 1 &&
      choice(
        "Problem",
        built.map((problem, i) => [i, problem.title]),
        (i) => take(built[i]),
      ),
    toggle("log axis", true, set("log"), { "data-control": "log" }),
    toggle("± 2 s.e.m.", true, set("errors"), { "data-control": "errors" }),
    some((curve) => curve.low) && toggle("5–95 % of instances", true, set("spread"), { "data-control": "spread" }),
  );
  take(built[0]);
  const several = built.some((problem) => Object.values(problem.panel).some((panel) => panel.values.length > 1));
  const marked = built.some((problem) => Object.values(problem.panel).some((panel) => panel.paper !== undefined));
  return h(
    "div",
    { class: "charts" },
    facts,
    controls,
    h(
      "figure",
      null,
      holders[0],
      live,
      keys,
      hidden.size > 0 &&
        h(
          "figcaption",
          null,
          `${first.length} of ${spec.methods.length} methods at first; the buttons add the others.`,
        ),
    ),
    h(
      "figure",
      null,
      holders[1],
      h(
        "figcaption",
        null,
        "Ring: the instance shown above. ",
        several &&
          "Dots: the other instances or, on a data set, further draws of a random basis; upright line: their median. ",
        marked && "Diamond: the paper’s number.",
      ),
    ),
  );
}

function cloudOf(spec) {
  const methods = spec.methods.filter((method) => spec.cloud.some((part) => part.method === method));
  if (!methods.length) return h("p", { class: "notice" }, "Nothing is built of this experiment yet.");
  let method = methods[0];
  const plot = h("div", { class: "plot", "data-chart": "cloud" }),
    said = h("figcaption"),
    holder = h("div", { class: "holder" }, plot),
    tip = note(plot);
  const draw = redrawn(plot, (width) => {
    const chart = cloudChart(plot, spec.cloud, spec.against, method, width);
    said.textContent = `One dot per problem; below the diagonal ${DATA.methods[spec.against].label} has less regret: ${chart.below} of ${chart.total}.`;
    nearest(chart, tip);
  });
  const sets = [...new Set(spec.cloud.map((part) => part.dataset))];
  return h(
    "div",
    { class: "charts" },
    h("p", { class: "facts" }, `${count(spec.count)} problems.`),
    h(
      "div",
      { class: "controls" },
      choice(
        "Against",
        methods.map((name) => [name, DATA.methods[name].label]),
        (name) => {
          method = name;
          draw();
        },
      ),
    ),
    h(
      "figure",
      null,
      holder,
      h(
        "ul",
        { class: "key" },
        sets.map((name) => h("li", { style: `--c:var(--d-${name})` }, DATA.datasets[name]?.label ?? name)),
      ),
      said,
    ),
  );
}

// Bounds of the theorems: thin lines above the regret that was realised with their radius.
function boundsOf() {
  const found = Object.values(DATA.experiments).flatMap(bounded);
  const richness = (problem) => Object.values(problem.curves).filter((curve) => curve.bound).length;
  found.sort((a, b) => richness(b) - richness(a));
  const state = { problem: found[0], hidden: new Set(), log: true };
  const plot = h("div", {
    class: "plot",
    tabindex: "0",
    role: "group",
    "aria-label": "Bounds and regret; the arrow keys read out values",
    "data-chart": "bounds",
  });
  const keys = h("div"),
    holder = h("div", { class: "holder" }, plot),
    tip = note(plot),
    live = h("p", { class: "unseen", "aria-live": "polite" });
  const withBound = () =>
    byEnd(
      state.problem,
      Object.keys(state.problem.curves).filter((method) => state.problem.curves[method].bound),
      "bound",
    );
  const draw = redrawn(plot, (width) => {
    const chart = lineChart(
      plot,
      state.problem,
      withBound().filter((method) => !state.hidden.has(method)),
      { log: state.log, errors: true, spread: false, bounds: true, name: state.problem.title },
      width,
    );
    readout(plot, chart, state.problem, tip, live, true);
  });
  const take = (problem) => {
    state.problem = problem;
    keys.replaceChildren(legend(withBound(), state.hidden, draw));
    draw();
  };
  take(found[0]);
  return [
    h(
      "p",
      { class: "lede" },
      "Thin line: the bound that a theorem gives along these very runs. Thick line: the regret with that theorem’s radius. A bound holds where its thin line stays above.",
    ),
    h(
      "div",
      { class: "charts" },
      h(
        "div",
        { class: "controls" },
        found.length > 1 &&
          choice(
            "Problem",
            found.map((problem, i) => [i, problem.title]),
            (i) => take(found[i]),
          ),
        toggle("log axis", true, (on) => {
          state.log = on;
          draw();
        }),
      ),
      h("figure", null, holder, live, keys),
    ),
  ];
}
