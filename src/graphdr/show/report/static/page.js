// Read the data and show every part; the contents list what there is.

const DATA = JSON.parse(byId("data").textContent);

function showContents() {
  const link = (href, text) => h("li", null, h("a", { href }, text));
  const late = [
    ["#bounds", "Bounds"],
    ["#claims", "Claims"],
    ["#datasets", "Data sets"],
    ["#missing", "Not built"],
    ["#build", "How computed"],
  ].filter(([href]) => byId(href.slice(1)));
  const list = h(
    "ul",
    null,
    link("#top", "Headline"),
    DATA.groups.map((group) => {
      const links = group.experiments.map((key) => link(`#e-${key}`, DATA.experiments[key].title));
      return h("li", null, h("span", null, group.title), h("ul", null, links));
    }),
    late.map(([href, text]) => link(href, text)),
  );
  const details = h(
    "details",
    { open: matchMedia("(min-width: 72rem)").matches },
    h("summary", null, "Contents"),
    list,
  );
  byId("contents").append(details);
}

showHeadline();
showExperiments();
showBounds();
showClaims();
showDatasets();
showMissing();
showBuild();
showContents();
document.documentElement.dataset.ready = "yes";
