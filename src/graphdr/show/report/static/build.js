// What is not here and how to get it; and with what, on what and how fast the rest was computed.

function missingTable() {
  const rows = Object.entries(DATA.missing).map(([key, spec]) => [
    spec.label,
    h("code", null, `snakemake --cores all ${key}`),
    [spec.terms, linkTo(spec.page, spec.page)].filter(Boolean).flatMap((part) => [part, " "]),
  ]);
  const apart = Object.entries(DATA.apart).map(([target, title]) => [
    title,
    h("code", null, `snakemake --cores all ${target}`),
    "left out of the usual build, since it takes long",
  ]);
  if (!rows.length && !apart.length) return null;
  return plainTable(
    "What is not built, and the command that builds it",
    ["what", "command", "note"],
    [...rows, ...apart],
  );
}

function computedWith() {
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
  return [
    h(
      "div",
      { class: "columns" },
      plainTable(
        "Versions",
        ["package", "version"],
        Object.entries(DATA.versions).map(([name, text]) => [h("code", null, name), text]),
      ),
      plainTable(
        "Seeds and draws",
        ["setting", "value"],
        seeds.map(([name, value]) => [name, String(value)]),
      ),
      plainTable("Machine that made this page", ["part", "is"], Object.entries(DATA.machine).map(line)),
    ),
    DATA.timings.length > 0 &&
      plainTable(
        `Time by rule, of the latest build of each file: ${count(total)} s in all jobs together`,
        ["rule", "jobs", "seconds", "longest job, s", "memory, MB"],
        DATA.timings.map((rule) => [
          h("code", null, rule.rule),
          count(rule.jobs),
          number(rule.seconds),
          number(rule.longest),
          count(rule.memory),
        ]),
        "plain figures",
      ),
  ];
}

function showBuild() {
  const missing = missingTable();
  fill(byId("build"), null, [
    h("h2", null, "How this was computed"),
    missing && fold(null, "What is not built", () => missing),
    fold(null, "Versions, seeds, machine and times", computedWith),
    fold(null, "Settings", () => [
      h("p", { class: "facts" }, "All settings that numbers depend on, keys sorted."),
      h("pre", { tabindex: "0" }, spelt(DATA.settings, "")),
    ]),
  ]);
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
