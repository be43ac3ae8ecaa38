// The first screen: what holds, what depends, what fails, each with its numbers.

const FIRST = 4; // lines of a list that are not folded
const lists = (varied) => [
  [
    "holds",
    "holds",
    "Holds",
    varied
      ? "in nearly all random instances and, at least with the paper’s k, in nearly all settings; on all data sets judged"
      : "at the paper’s settings: in nearly all random instances, and on all data sets judged",
  ],
  [
    "depends",
    "mixed",
    "Depends",
    `on which random graph is drawn${varied ? ", on k, or on a setting that the paper does not discuss" : ""}`,
  ],
  ["fails", "fails", "Fails", "with the paper’s own protocol"],
];

function showStory() {
  byId("version").textContent = `· version ${DATA.version}`;
  const seen = new Set(),
    story = DATA.story;
  byId("standfirst").append(
    ...prose(
      "The arms of a bandit are the nodes of a graph; GraphDR describes each by the k smoothest eigenvectors of the Laplacian and runs LinUCB on these. ",
      seen,
    ).flat(Infinity),
    headline() ?? "",
  );
  if (!story) return;
  byId("story").append(
    h(
      "div",
      { class: "lists" },
      lists(story.varied).map(([name, word, title, meaning]) => storyList(story[name], name, word, title, meaning, seen)),
    ),
    aside(story),
  );
}

function storyList(lines, name, word, title, meaning, seen) {
  const items = lines.map((line) =>
    h(
      "li",
      null,
      prose(line.statement, seen),
      h(
        "small",
        null,
        h("a", { href: `#c-${line.claim}` }, maths(line.result.replaceAll(" %", "\u00a0%"))),
        line.kinds.map((kind) => [" ", h("span", { class: "kind" }, KINDS[kind])]),
      ),
    ),
  );
  const more = items.length - FIRST;
  return h(
    "section",
    { class: `list l-${name}`, "data-list": name },
    h("h2", null, verdict(word, title), " ", h("b", null, items.length)),
    h("p", null, meaning),
    h("ul", null, items.slice(0, FIRST)),
    more > 0 && h("details", null, h("summary", null, `${more} more`), h("ul", null, items.slice(FIRST))),
  );
}

const KINDS = { synthetic: "random graphs", real: "data sets" };

function aside(story) {
  const parts = [`${DATA.claims.length} claims in all. `, story.best ? `${story.best} ` : ""];
  if (story.vacuous.length)
    parts.push(
      `${story.vacuous.length} bounds of theorems hold, but are vacuous: no policy could break them (`,
      story.vacuous.flatMap((line, place) => [
        place ? ", " : "",
        h("a", { href: `#c-${line.claim}` }, DATA.claims.find(({ claim }) => claim === line.claim).where),
      ]),
      "). ",
    );
  if (story.without_data)
    parts.push(`${story.without_data} claims have no data here, or only other data than the paper’s. `);
  if (!story.varied)
    parts.push(
      "Whether a claim hangs on the bandit’s settings is not built yet: ",
      h("code", null, "snakemake --cores all multiverse"),
      ".",
    );
  return h("p", { class: "facts" }, parts);
}

// How many times less regret, over all random instances, with the instance shown and the paper beside.
function headline() {
  const main = DATA.headline;
  if (!main) return null;
  const times = (value) => number(value, 2),
    range = main.count > 1 && `5–95 %: ${times(main.low)} to ${times(main.high)}; instance 0: ${times(main.first)}`,
    notes = [range, main.paper && `paper: ${times(main.paper)}`].filter(Boolean).join("; ");
  return h(
    "strong",
    { class: "headline" },
    `On the ${main.problem.title} it has ${times(main.median)} times less regret than the next best of the paper’s methods` +
      (main.count > 1 ? `, in the median of ${main.count} random instances` : "") +
      (notes ? ` (${notes}).` : "."),
  );
}
