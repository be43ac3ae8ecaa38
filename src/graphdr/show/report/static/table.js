// Write what follows an underscore as an index: Γ_k, SRL_T.
const maths = (text) =>
  text.split(/_(\w)(?![A-Za-z0-9])/).map((part, place) => (place % 2 ? h("sub", null, part) : part));

// Tables of numbers: ours with its error, and below it the paper's, the ratio and the verdict.

const SIGNS = {
  match: "●",
  close: "◐",
  "not contradicted": "◇",
  differs: "✕",
  "other data": "○",
  "no data": "–",
  holds: "●",
  mixed: "◐",
  fails: "✕",
};

const verdict = (word, text) =>
  h(
    "span",
    { class: `verdict v-${word.replace(" ", "-")}` },
    h("span", { "aria-hidden": "true" }, SIGNS[word] ?? ""),
    " ",
    text ?? word,
  );

function cellOf(cell) {
  if (cell.none) return h("td", { class: "none" }, cell.none, paperOf(cell));
  return h(
    "td",
    null,
    h(cell.best ? "strong" : "span", { class: "value" }, cell.value, cell.sem && h("small", null, ` ± ${cell.sem}`)),
    cell.panel &&
      h(
        "small",
        { class: "spread", title: "median (5–95 %) over the instances or draws" },
        `${cell.panel[1]} `,
        h("span", null, `(${cell.panel[0]} … ${cell.panel[2]})`),
      ),
    paperOf(cell),
  );
}

function paperOf(cell) {
  if (cell.paper === undefined) return null;
  return h(
    "small",
    { class: "paper" },
    `paper ${cell.paper}${cell.paper_sem ? ` ± ${cell.paper_sem}` : ""}`,
    h("br"),
    cell.ratio &&
      cell.verdict !== "no data" && [h("span", { title: "ours divided by the paper’s" }, `${cell.ratio}×`), " "],
    verdict(cell.verdict),
  );
}

// What holds nothing but dashes is left out; a table that is much wider than tall is turned.
function numberTable(table) {
  const used = table.head.map((_, i) => table.rows.some((row) => row.cells[i].none !== "–"));
  const head = table.head.filter((_, i) => used[i]);
  const rows = table.rows.map((row) => ({ ...row, cells: row.cells.filter((_, i) => used[i]) }));
  const column = (name) => [maths(name.quantity), name.of && h("small", null, maths(name.of))];
  const turned = head.length > 4 && rows.length <= 2;
  const lines = turned
    ? head.map((name, i) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, column(name)),
          rows.map((row) => cellOf(row.cells[i])),
        ),
      )
    : rows.map((row) => h("tr", null, h("th", { scope: "row" }, row.label), row.cells.map(cellOf)));
  const titles = turned ? rows.map((row) => row.label) : head.map(column);
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": table.caption },
    h(
      "table",
      { class: turned ? "numbers turned" : "numbers", "data-table": table.key },
      h("caption", null, h("span", null, table.caption)),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, turned ? "" : table.heading),
          titles.map((title) => h("th", { scope: "col" }, title)),
        ),
      ),
      h("tbody", null, lines),
    ),
  );
}

function plainTable(caption, head, rows, kind = "plain") {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      { class: kind },
      h("caption", null, h("span", null, caption)),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          head.map((text) => h("th", { scope: "col" }, text)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map(([first, ...rest]) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, first),
            rest.map((text) => h("td", null, text)),
          ),
        ),
      ),
    ),
  );
}
