// Elements are made one by one, never from markup: texts from the data only ever become text nodes.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
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
