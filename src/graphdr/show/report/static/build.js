// What is not here and how to get it; and with what, on what and how fast the rest was computed.

function showMissing() {
  const section = byId("missing"),
    rows = Object.entries(DATA.missing).map(([key, spec]) => [
      spec.label,
      h("code", null, `snakemake --cores all ${key}`),
      [spec.terms, linkTo(spec.page, spec.page)].filter(Boolean).flatMap((part) => [part, " "]),
    ]);
  const apart = DATA.apart.map((target) => [
    target.replaceAll("_", " "),
    h("code", null, `snakemake --cores all ${target}`),
    "left out of the usual build, since it takes long",
  ]);
  if (!rows.length && !apart.length) return section.remove();
  section.append(
    h("h2", null, "Not built"),
    h(
      "p",
      { class: "lede" },
      rows.length
        ? `${rows.length} data ${rows.length === 1 ? "set has" : "sets have"} no raw files here; numbers and claims on them read “no data”.`
        : "All data sets are here.",
    ),
    plainTable("What is not built, and the command that builds it", ["what", "command", "note"], [...rows, ...apart]),
  );
}

function showBuild() {
  const { seed, protocol = {}, observed = {} } = DATA.settings,
    line = ([name, value]) => [name, value];
  const seeds = [
    ["root of all random streams", seed],
    ["seeds per problem", protocol.seeds],
    ["random instances", protocol.instances],
    ["further draws of a random basis", protocol.draws],
    ["seeds on a data set", observed.seeds],
  ].filter(([, value]) => value !== undefined);
  const total = DATA.timings.reduce((sum, rule) => sum + rule.seconds, 0);
  byId("build").append(
    h("h2", null, "How this was computed"),
    h(
      "div",
      { class: "columns" },
      plainTable("Versions", ["package", "version"], Object.entries(DATA.versions).map(line)),
      plainTable(
        "Seeds and draws",
        ["setting", "value"],
        seeds.map(([name, value]) => [name, String(value)]),
      ),
      plainTable("Machine that made this page", ["part", "is"], Object.entries(DATA.machine).map(line)),
    ),
    DATA.timings.length
      ? plainTable(
          `Time by rule, of the latest build of each file: ${count(total)} s in all jobs together`,
          ["rule", "jobs", "seconds", "longest job, s", "memory, MB"],
          DATA.timings.map((rule) => [
            rule.rule,
            count(rule.jobs),
            number(rule.seconds),
            number(rule.longest),
            count(rule.memory),
          ]),
          "plain figures",
        )
      : "",
    h(
      "details",
      null,
      h("summary", null, "Settings"),
      h("p", { class: "facts" }, "All settings that numbers depend on, keys sorted."),
      h("pre", { tabindex: "0" }, spelt(DATA.settings, "")),
    ),
  );
}

// Spell nested settings in the manner of YAML.
function spelt(value, indent) {
  return Object.keys(value)
    .sort()
    .map((key) => {
      const own = value[key],
        flat = own === null || typeof own !== "object" || Array.isArray(own);
      return flat
        ? `${indent}${key}: ${own !== null && typeof own === "object" ? JSON.stringify(own) : own}\n`
        : `${indent}${key}:\n${spelt(own, indent + "  ")}`;
    })
    .join("");
}
