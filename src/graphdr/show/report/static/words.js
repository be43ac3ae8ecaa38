// Words: verdicts with their signs, terms with their meaning, and indices set as such.

const SIGNS = {
  match: "●",
  close: "■",
  "not contradicted": "◇",
  differs: "✕",
  "other data": "○",
  "no data": "–",
  holds: "●",
  mixed: "◐",
  fails: "✕",
  vacuous: "◌",
};

const verdict = (word, text) =>
  h(
    "span",
    { class: `verdict v-${word.replace(" ", "-")}` },
    h("span", { "aria-hidden": "true" }, SIGNS[word] ?? ""),
    " ",
    text ?? word,
  );

// What these verdicts mean.
function legendOf(meanings, words) {
  return h(
    "dl",
    { class: "meanings" },
    words
      .map((word) => [word, meanings[word]])
      .map(([word, meaning]) =>
        h("div", null, h("dt", null, verdict(word.split(", ").at(-1))), h("dd", null, meaning)),
      ),
  );
}

const greek = (text) => text.replace(/\b(zeta|rho|eps|nu|Gamma)_(?=[A-Za-z])/g, (_, name) => `${GREEK[name]}_`);
const GREEK = { zeta: "ζ", rho: "ρ", eps: "ε", nu: "ν", Gamma: "Γ" };

// Write what follows an underscore as an index, and Greek letters as such: Γ_k, SRL_T.
const maths = (text) =>
  greek(text)
    .split(/_(\w)(?![A-Za-z0-9])/)
    .map((part, place) => (place % 2 ? h("sub", null, part) : part));

const term = (text, meaning) => h("abbr", { "data-meaning": meaning, tabindex: "0" }, maths(text));

let pattern;
function terms() {
  const escaped = Object.keys(DATA.meanings.terms)
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return (pattern ??= new RegExp(`(?<![\\p{L}\\p{N}_-])(${escaped.join("|")})(?![\\p{L}\\p{N}_-])`, "u"));
}

// A text whose terms explain themselves, each once among those already seen.
function prose(text, seen = new Set()) {
  return greek(text)
    .split(terms())
    .map((part, place) => {
      const meaning = place % 2 && DATA.meanings.terms[part];
      if (!meaning || seen.has(meaning)) return maths(part);
      seen.add(meaning);
      return term(part, meaning);
    });
}

// One note for all terms, beside the one under the pointer or with the focus.
function explainTerms() {
  const box = byId("meaning");
  const show = (event) => {
    const place = event.target.closest?.("[data-meaning]");
    if (!place) return;
    box.textContent = place.dataset.meaning;
    box.hidden = false;
    place.setAttribute("aria-describedby", "meaning");
    const { left, bottom, top } = place.getBoundingClientRect(),
      width = document.documentElement.clientWidth;
    box.style.left = `${Math.max(8, Math.min(left, width - box.offsetWidth - 8))}px`;
    box.style.top = `${bottom + box.offsetHeight + 8 > innerHeight ? top - box.offsetHeight - 6 : bottom + 6}px`;
  };
  const hide = () => (box.hidden = true);
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, show);
  for (const kind of ["pointerout", "focusout", "scroll"]) document.addEventListener(kind, hide, { passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
