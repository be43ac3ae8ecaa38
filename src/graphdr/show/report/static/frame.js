// The frame that all charts share: axes with labels, a grid, a description, and a floating note.

function frame(place, { width, height, margin, x, y, xLabel, yLabel, xTicks, yTicks, xFormat, yFormat, label, desc }) {
  const left = margin.left,
    right = width - margin.right,
    top = margin.top,
    bottom = height - margin.bottom;
  const ids = [freshId("title"), freshId("desc")];
  const svg = s(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      class: "chart",
      "aria-labelledby": ids[0],
      "aria-describedby": ids[1],
    },
    s("title", { id: ids[0] }, label),
    s("desc", { id: ids[1] }, desc),
  );
  for (const tick of xTicks ?? x.ticks(Math.max(2, Math.floor((right - left) / 85)))) {
    const at = x(tick);
    svg.append(
      s("line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom }),
      s(
        "text",
        { class: "tick", x: at, y: bottom + 16, "text-anchor": anchor(at, left, right) },
        (xFormat ?? number)(tick),
      ),
    );
  }
  for (const tick of y ? (yTicks ?? y.ticks(Math.max(2, Math.floor((bottom - top) / 44)))) : []) {
    const at = y(tick);
    svg.append(
      s("line", { class: "grid", x1: left, x2: right, y1: at, y2: at }),
      s("text", { class: "tick", x: left - 7, y: at + 4, "text-anchor": "end" }, (yFormat ?? number)(tick)),
    );
  }
  svg.append(s("text", { class: "axis", x: right, y: height - 4, "text-anchor": "end" }, xLabel));
  if (yLabel) svg.append(s("text", { class: "axis", x: 0, y: 12 }, yLabel));
  place.replaceChildren(svg);
  return { svg, left, right, top, bottom, marks: svg.appendChild(s("g", { class: "marks" })) };
}

// Labels at the borders of an axis stay inside the picture.
function anchor(at, left, right) {
  return at > right - 14 ? "end" : at < left + 6 && left < 20 ? "start" : "middle";
}

// All points of one colour are one path of zero-length strokes: a thousand marks at the price of one.
function dots(points, attributes) {
  const d = points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("");
  return s("path", { d, class: "dots", ...attributes });
}

function line(points, attributes) {
  const d = points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return s("path", { d, class: "line", ...attributes });
}

function area(x, low, high, attributes) {
  const there = x.map((at, place) => [at, high[place]]),
    back = x.map((at, place) => [at, low[place]]).reverse();
  const d = [...there, ...back]
    .map(([at, y], place) => `${place ? "L" : "M"}${at.toFixed(1)} ${y.toFixed(1)}`)
    .join("");
  return s("path", { d: d + "Z", class: "area", ...attributes });
}

// A note beside the pointer; it turns to the side that has room.
function note(place) {
  const box = h("div", { class: "note", hidden: true });
  place.after(box);
  return {
    show(x, y, width, ...children) {
      box.replaceChildren(...children.flat(Infinity).filter(Boolean));
      box.hidden = false;
      const own = box.offsetWidth;
      box.style.left = `${Math.max(0, Math.min(width - own, x + 14 + own > width ? x - own - 14 : x + 14))}px`;
      box.style.top = `${Math.max(0, y)}px`;
    },
    hide() {
      box.hidden = true;
    },
  };
}

// Follow the pointer in chart coordinates, whatever size the chart is shown at.
function follow(svg, width, move, leave) {
  const at = (event) => {
    const box = svg.getBoundingClientRect(),
      factor = width / box.width;
    move((event.clientX - box.left) * factor, (event.clientY - box.top) * factor);
  };
  svg.addEventListener("pointermove", at);
  svg.addEventListener("pointerdown", at);
  svg.addEventListener("pointerleave", leave);
}
