// Points in the plane, and the small charts of a data set: spectrum and energy.

const SHADES = 13;

// Colours from low over middle to high; the middle is a step towards the page, so that both ends stand out.
function shade(value, reach) {
  const place = Math.round(((Math.max(-1, Math.min(1, value / reach)) + 1) / 2) * (SHADES - 1));
  return {
    place,
    css: `color-mix(in oklab, var(--${place < SHADES / 2 - 0.5 ? "low" : "high"}) ${Math.round(Math.abs((place / (SHADES - 1)) * 2 - 1) * 100)}%, var(--mid))`,
  };
}

function typical(values) {
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] * 2 || 1;
}

const mapHeight = (width) => Math.round(Math.min(320, Math.max(220, width * 0.75)));

function rewardMap(place, card, width) {
  const { x: xs, y: ys, reward, titles } = card.map;
  const height = mapHeight(width),
    margin = { left: 44, right: 12, top: 26, bottom: 40 };
  const x = asinh(...extent(xs), typical(xs), margin.left + 4, width - margin.right - 4);
  const y = asinh(...extent(ys), typical(ys), height - margin.bottom - 4, margin.top + 4);
  const sizes = reward.map(Math.abs).sort((a, b) => a - b),
    reach = sizes[Math.floor(sizes.length * 0.95)] || 1;
  const parts = frame(place, {
    width,
    height,
    margin,
    x,
    y,
    xLabel: "u₂, asinh scale",
    yLabel: "u₃, asinh scale",
    label: `Rewards of ${card.label} on the first two nontrivial eigenvectors`,
    desc: `${xs.length} nodes, coloured by reward from ${number(extent(reward)[0], 2)} to ${number(extent(reward)[1], 2)} in units of its typical size.`,
  });
  const bins = new Map();
  xs.forEach((value, i) => {
    const tone = shade(reward[i], reach);
    if (!bins.has(tone.place)) bins.set(tone.place, { css: tone.css, points: [] });
    bins.get(tone.place).points.push([x(value), y(ys[i])]);
  });
  const middle = (SHADES - 1) / 2; // strong rewards last, on top
  for (const [, bin] of [...bins].sort(([a], [b]) => Math.abs(a - middle) - Math.abs(b - middle))) {
    parts.marks.append(dots(bin.points, { style: `--c:${bin.css}`, class: "dots small" }));
  }
  return {
    ...parts,
    width,
    points: xs.map((value, i) => [x(value), y(ys[i])]),
    tooltip: (i) => [
      titles && h("strong", null, titles[i]),
      h("p", null, `reward ${number(reward[i], 3)} × typical size`),
    ],
  };
}

// One dot per problem: the regret of a method against that of GraphDR, on equal axes.
function cloudChart(place, parts, against, method, width) {
  const own = parts.filter((part) => part.method === method),
    values = own.flatMap((part) => [...part.x, ...part.y]).filter((v) => v > 0);
  const [low, high] = extent(values),
    height = Math.round(Math.min(460, Math.max(300, width * 0.7)));
  const margin = { left: 48, right: 12, top: 26, bottom: 40 };
  const x = logarithmic(low * 0.9, high * 1.1, margin.left, width - margin.right);
  const y = logarithmic(low * 0.9, high * 1.1, height - margin.bottom, margin.top);
  const name = (key) => DATA.methods[key].label,
    total = own.reduce((sum, part) => sum + part.x.length, 0);
  const below = own.reduce((sum, part) => sum + part.x.filter((value, i) => part.y[i] < value).length, 0);
  const chart = frame(place, {
    width,
    height,
    margin,
    x,
    y,
    xLabel: `R(T) of ${name(method)}, log axis`,
    yLabel: `R(T) of ${name(against)}, log axis`,
    label: `${name(against)} against ${name(method)} on ${total} problems`,
    desc: `${name(against)} has less regret on ${below} of ${total} problems.`,
  });
  chart.marks.append(s("line", { class: "equal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
  const points = [],
    named = [];
  for (const part of own) {
    const placed = part.x.map((value, i) => [x(value), y(part.y[i])]);
    points.push(...placed);
    part.titles.forEach((title, i) => named.push([title, part.x[i], part.y[i]]));
    chart.marks.append(dots(placed, { style: `--c:var(--d-${part.dataset})`, class: "dots mid" }));
  }
  return {
    ...chart,
    width,
    points,
    below,
    total,
    tooltip: (i) => [
      h("strong", null, named[i][0]),
      h("p", null, `${name(against)} ${number(named[i][2])}, ${name(method)} ${number(named[i][1])}`),
    ],
  };
}

// Show the point that is nearest to the pointer, and say which it is.
function nearest(chart, tip, chosen) {
  const ring = chart.svg.appendChild(s("circle", { class: "ring", r: 7, visibility: "hidden" }));
  const hide = () => {
    tip.hide();
    ring.setAttribute("visibility", "hidden");
    chosen?.(-1);
  };
  const show = (i) => {
    const [x, y] = chart.points[i];
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    ring.setAttribute("visibility", "visible");
    tip.show(x, y + 12, chart.width, chart.tooltip(i));
    chosen?.(i);
  };
  follow(
    chart.svg,
    chart.width,
    (x, y) => {
      let best = -1,
        least = 18 ** 2;
      chart.points.forEach(([a, b], i) => {
        const away = (a - x) ** 2 + (b - y) ** 2;
        if (away < least) {
          least = away;
          best = i;
        }
      });
      best < 0 ? hide() : show(best);
    },
    hide,
  );
  return { show, hide };
}

// Stems or steps over 1, 2, …, with the dimension k that the experiments use marked.
function smallChart(place, { values, first, k, shift, label, desc, xLabel, yLabel, top, stems }, width) {
  const height = mapHeight(width),
    margin = { left: 44, right: 12, top: 38, bottom: 40 };
  const high = top ?? (extent(values)[1] * 1.08 || 1);
  const x = linear(first - 0.6, first + values.length - 0.4, margin.left, width - margin.right),
    y = linear(0, high, height - margin.bottom, margin.top);
  const parts = frame(place, {
    width,
    height,
    margin,
    x,
    y,
    xLabel,
    yLabel,
    label,
    desc,
    xTicks: x.ticks(6).filter((tick) => Number.isInteger(tick) && tick >= first),
    yTicks: y.ticks(3),
  });
  const points = values.map((value, i) => [x(first + i), y(value)]);
  if (k !== null && k + shift <= first + values.length - 1) {
    const at = x(k + shift);
    parts.marks.append(
      s("line", { class: "rule", x1: at, x2: at, y1: parts.top, y2: parts.bottom }),
      s("text", { class: "rowname", x: at, y: parts.top - 6, "text-anchor": "middle" }, `k = ${k}`),
    );
  }
  if (stems)
    points.forEach(([at, end]) => parts.marks.append(s("line", { class: "stem", x1: at, x2: at, y1: y(0), y2: end })));
  else parts.marks.append(line(points, { class: "line accent" }));
  parts.marks.append(dots(points, { class: "dots mid accent" }));
  return parts;
}
