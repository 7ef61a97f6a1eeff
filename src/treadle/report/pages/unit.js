// A function: its cases; the chosen one is walked through in the source, with the heap before and after the call.
SHOW.unit = part => {
  const shown = make("div", { id: "case" });
  const missed = new Map(part.missed.map(([line, to]) => [line, to === null ? "not reached" : `never goes on to ${to ? "line " + to : "the end"}`]));
  const list = chooser(
    part.cases.map((one, n) => make("div", {}, make("b", {}, `${n + 1}. `), make("span", { class: "mono" }, one.inputs || "no inputs"),
      make("div", { class: one.violation ? "bad mono" : one.raises ? "warn mono" : "good mono" }, one.outcome),
      make("div", { class: "soft mono" }, one.condition.length ? "when " + one.condition.join(" and ") : "always"))),
    part.cases.map(one => [one.inputs, one.outcome, one.condition.join(" ")].join(" ")), n => shown.replaceChildren(...caseView(part, part.cases[n], missed)), "cases");
  begin.push(() => list.pick(0));
  return [
    part.cases.length ? make("div", { class: "split turned" }, make("div", {}, make("h2", {}, count(part.cases.length, "case")), list.tools ?? "", make("div", { class: "box tall cases" }, list.list)), shown) : sourceOf(part, part.file, missed),
    make("section", {}, make("h2", {}, "The tree of paths"), part.cut.length ? make("p", {}, "Without a case: " + part.cut.join("; ")) : make("p", { class: "soft" }, "No path was cut."), treeView(part.tree, list.pick)),
    make("details", {}, make("summary", {}, "what the command printed"), make("pre", {}, part.summary)),
  ];
};

function sourceOf(part, file, missed, look) {
  const own = file === part.file, [low, high] = own ? part.span : [1, Infinity];
  return sourceTable(file, low - 2, high + 1, line => {
    const hits = own && part.hits[line], miss = own && missed.get(line);
    const margin = make("td", { class: "cover" + (hits ? " hit" : miss ? " miss" : ""), title: miss || (hits ? `${hits} of ${part.cases.length} cases pass here` : "") }, hits ? `${hits}×` : miss ? "!" : "");
    if (hits && miss) margin.classList.add("miss");
    return { row: look ? look(line) : "", before: [margin] };
  });
}

function caseView(part, one, missed) {
  const place = make("div", {}), passed = new Set(one.lines);
  const walk = one.walk.length ? one.walk : one.lines.map(line => [part.file, line]);
  const times = new Map();
  const bar = stepper(walk.length, 0, n => {
    const [file, line] = walk[n];
    place.replaceChildren(sourceOf(part, file, missed, here => (here === line ? "now" : file === part.file && passed.has(here) ? "path" : "")) ?? "");
    centre(place.firstElementChild, place.querySelector("tr.now"));
    return `line ${n + 1} of ${walk.length}: ${data.names[file] || file}:${line}`;
  });
  begin.push(() => walk.length && bar.go(0));
  if (walk.length) bar.go(0);
  return [make("h2", {}, one.test || "case"), make("p", { class: "mono call" }, `${part.target.split(":").pop()}(${one.inputs}) ${one.outcome}`),
    one.violation ? make("p", { class: "cause" }, "breaks its own contract: " + one.violation) : null,
    make("p", {}, make("b", {}, "Path condition: "), make("span", { class: "mono" }, one.condition.join(" and ") || "always"), one.sampled ? " (values were picked here: a guess)" : ""),
    ...(walk.length ? [bar.bar, place, make("p", { class: "soft" }, "Blue: the line that is looked at. Green: the other lines of this case. 3×: three cases pass here." + (part.missed.length ? " Red, with !: no case came here." : ""))] : []),
    make("div", { class: "even" }, heapView(one.before, "Heap before"), heapView(one.after, "Heap after"))].filter(Boolean);
}
