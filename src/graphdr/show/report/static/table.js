// Tables of numbers: ours with its error, the paper's and the verdict on one line; ranges on demand.

function cellOf(cell, id) {
  const paper = cell.paper !== undefined && paperOf(cell);
  if (cell.none) return h("td", { class: "none", id }, cell.none, paper && [" ", paper]);
  return h(
    "td",
    { id },
    h(cell.best ? "strong" : "span", { class: "value" }, cell.value, cell.sem && h("small", null, ` ± ${cell.sem}`)),
    paper && [" ", paper],
    cell.panel && h("small", { class: "spread" }, `${cell.panel[1]} (${cell.panel[0]} … ${cell.panel[2]})`),
  );
}

function paperOf({ paper, paper_sem, ratio, verdict: word }) {
  const more = [`paper ${paper}${paper_sem ? ` ± ${paper_sem}` : ""}`, ratio && `ours is ${ratio} times that`, word];
  return h(
    "span",
    { class: `paper v-${word.replace(" ", "-")}`, title: more.filter(Boolean).join("; ") },
    h("span", { class: "unseen" }, "paper "),
    paper,
    h("span", { "aria-hidden": "true" }, ` ${SIGNS[word]}`),
    h("span", { class: "unseen" }, ` ${word}`),
  );
}

// What holds nothing but dashes is left out; a table that is much wider than tall is turned.
function numberTable(table) {
  const used = table.head.map((_, i) => i).filter((i) => table.rows.some((row) => row.cells[i].none !== "–"));
  const column = (i) => {
    const { quantity, key, of } = table.head[i],
      meaning = DATA.meanings.quantities[key];
    return [meaning ? term(quantity, meaning) : maths(quantity), of && h("small", null, maths(of))];
  };
  const cell = (row, r, c) => cellOf(row.cells[c], `t-${table.key}-${r}-${c}`);
  const turned = used.length > 4 && table.rows.length <= 2;
  const lines = turned
    ? used.map((c) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, column(c)),
          table.rows.map((row, r) => cell(row, r, c)),
        ),
      )
    : table.rows.map((row, r) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, row.label),
          used.map((c) => cell(row, r, c)),
        ),
      );
  const titles = turned ? table.rows.map((row) => row.label) : used.map(column);
  const shown = h(
    "table",
    { class: turned ? "numbers turned" : "numbers", "data-table": table.key },
    h("caption", null, h("span", null, maths(table.caption))),
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
  );
  const scroll = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.caption }, shown);
  return h("div", { class: "sheet-of-numbers", id: `t-${table.key}` }, scroll, toolsOf(table, shown));
}

// Ranges, the file, the address and the origin of a table.
function toolsOf(table, shown) {
  const cells = table.rows.flatMap((row) => row.cells.map((cell, c) => [row.key, table.head[c].column, cell]));
  const [row, column] = cells.find(([, , cell]) => cell.both) ?? cells.find(([, , cell]) => !cell.none) ?? [];
  const quoted = (text) => (/^[\w.-]+$/.test(text) ? text : `"${text}"`);
  return h(
    "p",
    { class: "tools" },
    cells.some(([, , cell]) => cell.panel) &&
      toggle("ranges", false, (on) => shown.classList.toggle("ranges", on), {
        "data-control": "ranges",
        title: "median (5–95 %) over the instances, or over the draws of a random basis",
      }),
    h("a", { href: `tables/${table.key}.csv`, download: true }, "csv"),
    h("a", { href: `#t-${table.key}` }, "link"),
    row &&
      h(
        "span",
        null,
        "where a number comes from: ",
        h("code", null, `graphdr why ${table.key} ${quoted(row)} ${column}`),
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
