// One section an experiment: its curves and panel with their controls, and its tables.

function showExperiments() {
  byId("experiments").replaceChildren(
    ...DATA.groups.map((group) =>
      h(
        "section",
        { class: "group", "aria-label": group.title },
        h("h2", null, group.title),
        group.experiments.map((key) => experimentSection(key, DATA.experiments[key], group.title)),
      ),
    ),
  );
}

const tablesOf = (key) => Object.values(DATA.tables).filter((table) => table.experiment === key);

function experimentSection(key, spec, above) {
  const id = `e-${key}`,
    tables = tablesOf(key).filter((table) => !table.problem);
  const wide = (table) => table.head.length > 4 && table.rows.length > 2;
  const section = h(
    "section",
    { class: "experiment", id, "aria-labelledby": `${id}-title`, "data-experiment": key },
    h("h3", { id: `${id}-title`, class: spec.title === above ? "unseen" : null }, spec.title),
  );
  const beside = h("div", { class: "beside" }),
    below = h("div", { class: "below" });
  if (tables.length && !wide(tables[0])) beside.append(numberTable(tables.shift()));
  tables.forEach((table, place) =>
    below.append(
      place ? h("details", null, h("summary", null, table.caption), numberTable(table)) : numberTable(table),
    ),
  );
  const changing = h("div", { class: "changing" });
  beside.prepend(changing);
  const charts = spec.cloud
    ? cloudOf(spec)
    : chartsOf(key, spec, (problem) => {
        changing.replaceChildren(
          ...tablesOf(key)
            .filter((table) => table.problem === problem.key)
            .map(numberTable),
        );
      });
  const filled = beside.childElementCount > 1 || tablesOf(key).some((table) => table.problem);
  section.append(h("div", { class: filled ? "pair" : "pair single" }, charts, filled && beside), below);
  return section;
}

function about(problem) {
  const panel = problem.instances > 1 ? `${problem.instances} instances` : "one instance";
  return `${problem.title}: n = ${count(problem.n)}, k = ${problem.k}, T = ${count(problem.horizon)}, ${problem.seeds} seeds, ${panel}.`;
}

function chartsOf(key, spec, changed) {
  const built = spec.problems.filter((problem) => Object.keys(problem.curves).length);
  if (!built.length) return h("p", { class: "notice" }, "Nothing is built of this experiment yet.");
  const state = { problem: built[0], hidden: new Set(), log: true, errors: true, spread: true };
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
    changed(problem);
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
    h("figure", null, holders[0], live, keys),
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
  let method = methods.find((name) => name === "content_pca") ?? methods[0];
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
function showBounds() {
  const found = Object.values(DATA.experiments).flatMap((spec) =>
    (spec.problems ?? []).filter((problem) => Object.values(problem.curves).some((curve) => curve.bound)),
  );
  if (!found.length) return byId("bounds").remove();
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
  const bounded = () =>
    byEnd(
      state.problem,
      Object.keys(state.problem.curves).filter((method) => state.problem.curves[method].bound),
      "bound",
    );
  const draw = redrawn(plot, (width) => {
    const chart = lineChart(
      plot,
      state.problem,
      bounded().filter((method) => !state.hidden.has(method)),
      { log: state.log, errors: true, spread: false, bounds: true, name: state.problem.title },
      width,
    );
    readout(plot, chart, state.problem, tip, live, true);
  });
  const take = (problem) => {
    state.problem = problem;
    keys.replaceChildren(legend(bounded(), state.hidden, draw));
    draw();
  };
  byId("bounds").append(
    h("h2", null, "Bounds against realised regret"),
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
  );
  take(found[0]);
}
