// The first screen: one ratio, the regrets behind it, and how many numbers and claims agree.

function showHeadline() {
  byId("version").textContent = `· version ${DATA.version}`;
  byId("headline").replaceChildren(...[result(), tallies()].filter(Boolean));
  byId("overview").hidden = !byId("overview").querySelector("img");
}

function result() {
  const main = DATA.headline;
  if (!main || main.regrets[main.against] === undefined) return null;
  const own = main.regrets[main.against],
    name = (method) => DATA.methods[method].label;
  const others = Object.entries(main.regrets).filter(
    ([method]) => method !== main.against && !DATA.methods[method].control,
  );
  const [best, regret] = others.sort(([, a], [, b]) => a - b)[0] ?? [];
  const high = Math.max(...Object.values(main.regrets)),
    { title, n, horizon } = main.problem;
  const bars = Object.entries(main.regrets)
    .sort(([, a], [, b]) => a - b)
    .map(([method, value]) =>
      h(
        "li",
        { style: colourOf(method) },
        h("span", { class: "name" }, name(method)),
        h("span", { class: "bar" }, h("span", { style: `width:${Math.max(0.6, (100 * value) / high)}%` })),
        h("span", { class: "value" }, number(value)),
      ),
    );
  return h(
    "div",
    { class: "result" },
    best &&
      h(
        "p",
        { class: "big" },
        h("strong", null, `${number(regret / own, 2)}×`),
        h(
          "span",
          null,
          `less regret for ${name(main.against)} than for ${name(best)}, the next best method: ${number(own)} against ${number(regret)}${elsewhere(main, best)}.`,
        ),
      ),
    h(
      "div",
      { class: "bars" },
      h("h2", null, `Regret after ${count(horizon)} rounds`),
      h("p", null, `${title}, ${count(n)} nodes, instance 0; less is better`),
      h("ol", null, bars),
    ),
  );
}

// The same ratio in the paper, and in the middle of the random instances.
function elsewhere({ experiment, against, problem }, best) {
  const { panel } = DATA.experiments[experiment].problems.find(({ key }) => key === problem.key),
    ours = panel[against],
    other = panel[best],
    notes = [];
  if (ours.paper && other.paper) notes.push(`paper: ${number(other.paper / ours.paper, 2)}×`);
  if (ours.of === "instances" && ours.values.length === other.values.length) {
    const ratios = other.values.map((value, i) => value / ours.values[i]).sort((a, b) => a - b),
      middle = (ratios[Math.floor((ratios.length - 1) / 2)] + ratios[Math.ceil((ratios.length - 1) / 2)]) / 2;
    notes.push(`median of ${ratios.length} instances: ${number(middle, 2)}×`);
  }
  return notes.length ? ` (${notes.join("; ")})` : "";
}

function tallies() {
  const claims = {};
  for (const { word } of DATA.claims) claims[word] = (claims[word] ?? 0) + 1;
  const numbers = Object.entries(DATA.verdicts).filter(([, n]) => n);
  const total = numbers.reduce((sum, [, n]) => sum + n, 0);
  const words = ["holds", "mixed", "fails", "no data"].filter((word) => claims[word]).map((word) => [word, claims[word]]);
  return h(
    "div",
    { class: "tallies" },
    tally("#experiments", `${count(total)} numbers of the paper`, numbers, total),
    DATA.whole && tally("#claims", `${count(DATA.claims.length)} claims of the paper`, words, DATA.claims.length),
  );
}

function tally(href, title, parts, total) {
  return h(
    "div",
    { class: "tally" },
    h("h2", null, h("a", { href }, title)),
    h(
      "div",
      { class: "stack", "aria-hidden": "true" },
      parts.map(([word, n]) =>
        h("span", { class: `s-${word.replace(" ", "-")}`, style: `flex:${n / Math.max(1, total)}` }),
      ),
    ),
    h(
      "ul",
      null,
      parts.map(([word, n]) => h("li", null, h("b", null, n), " ", verdict(word))),
    ),
  );
}
