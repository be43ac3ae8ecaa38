// The claims with their verdicts, filtered by verdict, by text and by the kind of data.

function showClaims() {
  const section = byId("claims");
  if (!DATA.claims.length) return section.remove();
  const words = ["holds", "mixed", "fails", "vacuous", "no data"],
    state = { words: new Set(words), text: "", kind: "all" };
  const items = DATA.claims.map((claim) => [claim, claimItem(claim)]);
  const status = h("p", { class: "facts", role: "status" });
  const update = () => {
    let shown = 0;
    for (const [claim, item] of items) {
      const text = `${claim.where} ${claim.statement} ${claim.criterion} ${claim.measured}`.toLowerCase();
      item.hidden = !(
        state.words.has(claim.word) &&
        text.includes(state.text) &&
        (state.kind === "all" || claim.kinds.includes(state.kind))
      );
      shown += !item.hidden;
    }
    status.textContent = `${shown} of ${items.length} claims shown.`;
  };
  const search = h("input", {
    type: "search",
    id: "claim-search",
    placeholder: "e.g. shuffled",
    oninput: (event) => {
      state.text = event.target.value.trim().toLowerCase();
      update();
    },
  });
  section.append(
    h("h2", null, "Claims"),
    h(
      "p",
      { class: "lede" },
      "What the paper states, judged at its own settings; the story above adds what others do. A claim opens to the numbers behind it, those of instance 0.",
    ),
    legendOf(DATA.meanings.claims, Object.keys(DATA.meanings.claims)),
    h(
      "div",
      { class: "controls" },
      words.map((word) =>
        toggle(
          [verdict(word), h("b", null, DATA.claims.filter((claim) => claim.word === word).length)],
          true,
          (on) => {
            on ? state.words.add(word) : state.words.delete(word);
            update();
          },
          { "data-word": word },
        ),
      ),
      choice(
        "Data",
        [
          ["all", "all"],
          ["synthetic", "synthetic"],
          ["real", "data sets"],
        ],
        (kind) => {
          state.kind = kind;
          update();
        },
      ),
      h("span", { class: "choice" }, h("label", { for: "claim-search" }, "Text"), " ", search),
    ),
    status,
    h(
      "ul",
      { class: "claims" },
      items.map(([, item]) => item),
    ),
  );
  update();
}

function claimItem(claim) {
  const share = claim.share !== null && `holds in ${Math.round(100 * claim.share)} % of the random instances`;
  const detail = fold(
    `c-${claim.claim}`,
    [verdict(claim.word), " ", maths(claim.statement)],
    () => [
      h("p", { class: "where" }, claim.where, claim.note && ` · ${claim.note}`),
      h("p", { class: "measured" }, prose(claim.measured)),
      claim.criterion && h("p", null, h("b", null, "Judged by: "), prose(claim.criterion)),
      claim.build.length > 1 &&
        h(
          "p",
          null,
          "To build what is missing: ",
          claim.build.map((part, i) => (i % 2 ? h("code", null, part) : part)),
        ),
    ],
    h("small", null, [share, claim.kinds.map((kind) => KINDS[kind]).join(", ")].filter(Boolean).join(" · ")),
  );
  return h("li", { "data-word": claim.word }, detail);
}
