// The final regret of every instance as one dot, a row per method, with the paper's number as a diamond.

const ROW = 38;

function stripChart(place, problem, methods, log, name, width) {
  const rows = methods.filter((method) => problem.panel[method]);
  const panels = rows.map((method) => problem.panel[method]);
  const values = panels.flatMap((p) => [...p.values, ...(p.paper === undefined ? [] : [p.paper])]);
  const [low, high] = extent(values),
    pad = (high - low) * 0.04 || high * 0.05 || 1;
  const margin = { left: 8, right: 12, top: 8, bottom: 40 },
    height = margin.top + margin.bottom + ROW * Math.max(1, rows.length);
  const range = [margin.left, width - margin.right];
  const x =
    log && low > 0 ? logarithmic(low * 0.92, high * 1.08, ...range) : linear(Math.min(0, low), high + pad, ...range);
  const description = panels
    .map(
      (p, i) =>
        `${DATA.methods[rows[i]].label}: ${number(p.values[0])}` +
        (p.values.length > 1
          ? `, ${p.values.length} ${p.of} from ${number(Math.min(...p.values))} to ${number(Math.max(...p.values))}`
          : "") +
        (p.paper === undefined ? "" : `, paper ${number(p.paper, 5)}`),
    )
    .join("; ");
  const parts = frame(place, {
    width,
    height,
    margin,
    x,
    y: null,
    xLabel: `final regret R(T)${log ? ", log axis" : ""}`,
    label: `Final regret of every instance: ${name}`,
    desc: description || "No method is shown.",
  });
  rows.forEach((method, place) => {
    const { values, paper } = panels[place],
      style = colourOf(method);
    const top = margin.top + place * ROW,
      middle = top + 26;
    const wave = (i) => middle + (((i * 7) % 5) - 2) * 1.7; // fixed offsets, so that equal values stay visible
    const sorted = [...values].sort((a, b) => a - b),
      median = sorted[Math.floor((sorted.length - 1) / 2)];
    fill(parts.marks, null, [
      s("line", { class: "base", x1: margin.left, x2: width - margin.right, y1: top + ROW - 1, y2: top + ROW - 1 }),
      s(
        "text",
        { class: "rowname", x: margin.left, y: top + 13 },
        DATA.methods[method].label,
        s(
          "tspan",
          { class: "rowvalue", dx: 8 },
          number(values[0]) + (paper === undefined ? "" : ` · paper ${number(paper, 5)}`),
        ),
      ),
      dots(
        values.slice(1).map((value, i) => [x(value), wave(i)]),
        { style, class: "dots faint", "data-method": method },
      ),
      values.length > 1 &&
        s("line", { class: "middle", style, x1: x(median), x2: x(median), y1: middle - 8, y2: middle + 8 }),
      paper !== undefined && s("path", { class: "paper", d: `M${x(paper)} ${middle - 8}l5 8l-5 8l-5-8Z` }),
      s("circle", { class: "shown", style, cx: x(values[0]), cy: middle, r: 6, "data-method": method }),
    ]);
  });
  return { ...parts, rows, panels, x, width };
}

function stripReadout(chart, tip) {
  follow(
    chart.svg,
    chart.width,
    (x, y) => {
      const place = Math.floor((y - chart.top) / ROW),
        panel = chart.panels[place];
      if (!panel) return tip.hide();
      let best = 0;
      panel.values.forEach((value, i) => {
        if (Math.abs(chart.x(value) - x) < Math.abs(chart.x(panel.values[best]) - x)) best = i;
      });
      tip.show(
        chart.x(panel.values[best]),
        chart.top + place * ROW + ROW,
        chart.width,
        h(
          "p",
          null,
          h("strong", null, number(panel.values[best])),
          ` ${panel.of === "draws" ? "draw" : "instance"} ${best}`,
        ),
      );
    },
    tip.hide,
  );
}
