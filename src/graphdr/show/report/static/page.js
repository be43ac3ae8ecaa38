// Read the data and show every part; the contents list what there is.

// Control characters, and those that turn the order of letters around; JSON has them escaped.
const CONTROLS = /\\u(00[0189][0-9a-f]|061c|200[ef]|202[89a-e]|206[6-9]|fff[9ab])/g;
const DATA = JSON.parse(byId("data").textContent.replace(CONTROLS, "\\ufffd"));

function showContents() {
  const link = (href, text) => byId(href.slice(1)) && h("li", null, h("a", { href }, text));
  const list = h(
    "ul",
    null,
    link("#top", DATA.whole ? "The story" : "Top"),
    link("#numbers", "Ours against the paper’s"),
    link("#differs", "What differs, and why"),
    link("#claims", "Claims"),
    link("#leaderboard", "Leaderboard"),
    h(
      "li",
      null,
      h("a", { href: "#experiments" }, "Experiments"),
      h(
        "ul",
        null,
        DATA.groups.map((group, place) => link(`#g-${place}`, group.title)),
      ),
    ),
    link("#datasets", "Data sets"),
    link("#build", "How computed"),
  );
  byId("contents").append(
    h("details", { open: matchMedia("(min-width: 72rem)").matches }, h("summary", null, "Contents"), list),
  );
}

showStory();
showNumbers();
showDiffering();
showClaims();
showLeaderboard();
showExperiments();
showDatasets();
showBuild();
showContents();
explainTerms();

const here = () => location.hash && reveal(decodeURIComponent(location.hash.slice(1)));
addEventListener("hashchange", here);
document.addEventListener("click", (event) => event.target.closest?.(`a[href="${location.hash}"]`) && here());
here();
document.documentElement.dataset.ready = "yes";
