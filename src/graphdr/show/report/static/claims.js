// The claims with their verdicts, filtered by verdict, by text and by the kind of data.

function showClaims() {
  const section = byId("claims");
  if (!DATA.claims.length) return section.remove();
  const words = ["holds", "mixed", "fails", "no data"],
    state = { words: new Set(words), text: "", kind: "all" };
  const items = DATA.claims.map((claim) => [claim, claimItem(claim)]);
  const status = h("p", { class: "facts", role: "status" });
  const update = () => {
    let shown = 0;
    for (const [claim, item] of items) {
      const text =
        `${claim.claim} ${claim.where} ${claim.statement} ${claim.criterion} ${claim.measured}`.toLowerCase();
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
      "Each claim of the paper with the numbers behind it, those of instance 0. Where there are random instances, the share of them decides: a claim holds in at least 95 %, fails if it holds in at most 5 %, and is mixed between.",
    ),
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
  const more = claim.verdict === claim.word ? null : claim.verdict.slice(claim.word.length).trim();
  return h(
    "li",
    { "data-word": claim.word, id: `c-${claim.claim}` },
    h(
      "div",
      { class: "judged" },
      verdict(claim.word),
      claim.share !== null && h("small", null, `holds in ${Math.round(100 * claim.share)} % of instances`),
    ),
    h(
      "div",
      null,
      h("p", { class: "statement" }, claim.statement),
      h("p", { class: "where" }, [claim.where, more].filter(Boolean).join(" · ")),
      h("p", { class: "measured" }, claim.measured),
      h(
        "details",
        null,
        h("summary", null, "criterion"),
        h("p", null, claim.criterion || "none"),
        claim.build && h("p", null, "To build what is missing: ", claim.build),
      ),
    ),
  );
}
