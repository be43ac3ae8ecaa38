// Regret over rounds: mean with its standard error, the spread over the instances and, where known, the bound.

const colourOf = (method) => `--c:var(--m-${method})`;

function swatch(method) {
  return s(
    "svg",
    { class: "swatch", viewBox: "0 0 26 10", width: 26, height: 10, "aria-hidden": "true", style: colourOf(method) },
    s("path", { d: "M1 5H25", class: "line", "stroke-dasharray": DATA.methods[method].dash || null }),
  );
}

// Buttons that switch methods on and off, in the order of the ends of their lines.
function legend(methods, hidden, redraw) {
  return h(
    "div",
    { class: "legend", role: "group", "aria-label": "Methods shown" },
    methods.map((method) =>
      toggle(
        [swatch(method), DATA.methods[method].label],
        !hidden.has(method),
        (on) => {
          on ? hidden.delete(method) : hidden.add(method);
          redraw();
        },
        { "data-method": method, title: DATA.methods[method].note ?? null },
      ),
    ),
  );
}

const lastOf = (values) => values[values.length - 1];

function byEnd(problem, methods, part = "mean") {
  const end = (method) => lastOf(problem.curves[method]?.[part] ?? [0]) ?? 0;
  return methods.filter((method) => problem.curves[method]).sort((a, b) => end(b) - end(a));
}

function lineChart(place, problem, methods, options, width) {
  const { log, errors, spread, bounds, name } = options;
  const height = Math.round(Math.min(400, Math.max(270, width * 0.56)));
  const drawn = methods.map((method) => ({ method, ...problem.curves[method] }));
  const values = drawn.flatMap((c) => [
    ...c.mean,
    ...(spread && c.low ? [...c.low, ...c.high] : []),
    ...(bounds ? (c.bound ?? []) : []),
  ]);
  const [, high] = extent(values),
    positive = values.filter((value) => value > 0);
  const low = Math.max(extent(positive)[0], high / 1e5);
  const margin = { left: Math.max(46, 14 + 7 * count(high).length), right: 10, top: 26, bottom: 40 };
  const x = linear(0, lastOf(problem.rounds) ?? 1, margin.left, width - margin.right);
  const make =
    log && positive.length
      ? (a, b) => logarithmic(low * 0.9, high * 1.1, a, b)
      : (a, b) => linear(0, (high || 1) * 1.04, a, b);
  const y = make(height - margin.bottom, margin.top);
  const ends = drawn.map((c) => `${DATA.methods[c.method].label} ${number(lastOf(c.mean))}`).join(", ");
  const parts = frame(place, {
    width,
    height,
    margin,
    x,
    y,
    xLabel: "round t",
    yLabel: `cumulative regret R(t)${log ? ", log axis" : ""}`,
    xFormat: count,
    label: `Regret over rounds: ${name}`,
    desc: `After ${count(lastOf(problem.rounds) ?? 0)} rounds: ${ends || "no method is shown"}.`,
  });
  const xs = problem.rounds.map(x);
  for (const curve of drawn) {
    const style = { style: colourOf(curve.method), "data-method": curve.method };
    if (spread && curve.low) {
      parts.marks.append(
        area(xs, curve.low.map(y), curve.high.map(y), { ...style, class: "area panel" }),
        line(
          curve.median.map((value, i) => [xs[i], y(value)]),
          { ...style, class: "line median" },
        ),
      );
    }
    if (errors) {
      const edge = (sign) => curve.mean.map((value, i) => y(Math.max(value + sign * 2 * (curve.sem[i] ?? 0), 0)));
      parts.marks.append(area(xs, edge(-1), edge(1), style));
    }
    if (bounds && curve.bound)
      parts.marks.append(
        line(
          curve.bound.map((value, i) => [xs[i], y(value)]),
          { ...style, class: "line thin" },
        ),
      );
    const dash = DATA.methods[curve.method].dash || null;
    parts.marks.append(
      line(
        curve.mean.map((value, i) => [xs[i], y(value)]),
        { ...style, "stroke-dasharray": dash },
      ),
    );
  }
  return { ...parts, xs, y, drawn, width };
}

// The values of all lines at one round, by pointer or by arrow keys.
function readout(place, chart, problem, tip, live, bounds) {
  const rule = chart.svg.appendChild(
    s("line", { class: "rule", y1: chart.top, y2: chart.bottom, visibility: "hidden" }),
  );
  let at = chart.xs.length - 1;
  const show = (index, y, spoken) => {
    at = Math.max(0, Math.min(chart.xs.length - 1, index));
    const x = chart.xs[at];
    rule.setAttribute("x1", x);
    rule.setAttribute("x2", x);
    rule.setAttribute("visibility", "visible");
    const sorted = [...chart.drawn].sort((a, b) => (b.mean[at] ?? 0) - (a.mean[at] ?? 0));
    const extra =
      chart.width < 620 && !bounds
        ? null
        : bounds
          ? "bound"
          : chart.drawn.some((c) => c.low)
            ? "5–95 % of instances"
            : null;
    const rows = sorted.map((c) =>
      h(
        "tr",
        null,
        h("th", { scope: "row" }, swatch(c.method), DATA.methods[c.method].label),
        h("td", null, number(c.mean[at]), c.sem[at] ? ` ± ${number(c.sem[at], 2)}` : ""),
        extra &&
          h(
            "td",
            null,
            bounds ? number(c.bound?.[at]) : c.low ? `${number(c.low[at], 3)} … ${number(c.high[at], 3)}` : "–",
          ),
      ),
    );
    tip.show(
      x,
      y,
      chart.width,
      h(
        "table",
        null,
        h("caption", null, `round ${count(problem.rounds[at])}`),
        extra &&
          h(
            "thead",
            null,
            h("tr", null, h("td"), h("th", { scope: "col" }, "mean ± s.e.m."), h("th", { scope: "col" }, extra)),
          ),
        h("tbody", null, rows),
      ),
    );
    if (spoken)
      live.textContent =
        `Round ${count(problem.rounds[at])}: ` +
        sorted.map((c) => `${DATA.methods[c.method].label} ${number(c.mean[at])}`).join(", ");
  };
  const hide = () => {
    rule.setAttribute("visibility", "hidden");
    tip.hide();
  };
  follow(
    chart.svg,
    chart.width,
    (x) => {
      let best = 0;
      chart.xs.forEach((own, place) => {
        if (Math.abs(own - x) < Math.abs(chart.xs[best] - x)) best = place;
      });
      if (chart.drawn.length) show(best, 34, false);
    },
    hide,
  );
  place.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") hide();
    if (step === undefined || !chart.drawn.length) return;
    event.preventDefault();
    show(
      Number.isFinite(step) ? at + step * Math.ceil(chart.xs.length / 40) : step < 0 ? 0 : chart.xs.length - 1,
      34,
      true,
    );
  };
  place.onblur = hide;
}
