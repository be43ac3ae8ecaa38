// Elements are made one by one, never from markup: texts from the data only ever become text nodes.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style")
      node.style.cssText = value; // the policy of the page forbids the attribute
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);

// A link to a page elsewhere, if that is what the address is.
const linkTo = (address, text) => /^https?:/.test(address ?? "") && h("a", { href: address, rel: "noreferrer" }, text);

let lastId = 0;
const freshId = (stem) => `${stem}-${++lastId}`;

// A button that is on or off, and says so.
function toggle(label, pressed, change, attributes) {
  const button = h(
    "button",
    {
      type: "button",
      "aria-pressed": String(pressed),
      ...attributes,
      onclick: () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        change(on);
      },
    },
    label,
  );
  return button;
}

function choice(label, options, change) {
  const id = freshId("choice");
  const select = h(
    "select",
    { id, onchange: () => change(select.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  return h("span", { class: "choice" }, h("label", { for: id }, label), " ", select);
}

// A folded part; what is in it is made when it is first opened.
const unfolded = new WeakMap();
function fold(id, title, draw, ...beside) {
  const details = h("details", { class: "fold", id }, h("summary", null, h("h3", null, title), beside));
  unfolded.set(details, () => {
    unfolded.delete(details);
    details.append(...[draw()].flat(Infinity).filter(Boolean));
  });
  details.addEventListener("toggle", () => details.open && unfolded.get(details)?.());
  return details;
}

function unfold(part) {
  for (; part; part = part.parentElement) {
    if (part.tagName !== "DETAILS") continue;
    part.open = true;
    unfolded.get(part)?.();
  }
}

// Open all that hides an element, and go there; a table or a cell may not have been made yet.
function reveal(id) {
  const table = Object.values(DATA.tables).find(({ key }) => id === `t-${key}` || id.startsWith(`t-${key}-`));
  const outer = byId(id) ?? (table && byId(`e-${table.experiment}`));
  unfold(outer);
  const found = byId(id);
  if (!found) return;
  if (found !== outer) return reveal(id); // it is in a folded part of what was made just now
  found.scrollIntoView({ block: found.tagName === "TD" ? "center" : "start" });
  if (!found.matches("a, button, summary, details")) found.setAttribute("tabindex", "-1");
  found.focus({ preventScroll: true });
}

// Draw now, and again whenever the width of the place changes.
function redrawn(place, draw) {
  let width = 0;
  const again = () => {
    const now = Math.floor(place.clientWidth);
    if (now && now !== width) {
      width = now;
      draw(width);
    }
  };
  new ResizeObserver(again).observe(place);
  return () => {
    width = 0;
    again();
  };
}
