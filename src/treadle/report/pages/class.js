// A class: the matrix of its methods, each fault with its lanes, how coverage grew, what was left out.
SHOW.class = part => {
  const shown = make("div", { id: "fault" });
  const show = number => { begin.length = 0; shown.replaceChildren(faultView(part.faults[number])); begin.forEach(start => start()); };
  const list = chooser(part.faults.map((fault, n) => make("span", {}, make("b", {}, `${n + 1}. ${fault.kind}: `), fault.message)),
    part.faults.map(fault => `${fault.kind} ${fault.message}`), show, "faults");
  if (part.faults.length) begin.push(() => setTimeout(() => list.pick(0)));
  return [
    make("section", {}, make("h2", {}, "Which methods were run together"), matrix(part, list)),
    part.faults.length ? make("section", {}, make("h2", {}, `${part.faults.length} fault${part.faults.length === 1 ? "" : "s"}`), list.tools ?? "", part.faults.length > 1 ? make("div", { class: "box half" }, list.list) : "", shown) : null,
    part.written ? make("p", {}, "Tests that show the faults: ", make("code", {}, part.written)) : null,
    make("section", {}, make("h2", {}, "How coverage grew"), curveView(part.growth, "executions") ?? make("p", { class: "soft" }, "It did not.")),
    listOf("Warnings", part.warnings), listOf("Unconfirmed", part.unconfirmed), listOf("What was not called or not judged", part.notes), listOf("What the search did", part.counts),
  ];
};

function matrix(part, list) {
  const cell = new Map(part.matrix.map(one => [one[0] + " " + one[1], one])), names = part.methods;
  const table = make("table", {}, make("tr", {}, make("th", {}), ...names.map(name => make("th", {}, name))));
  for (const row of names) table.append(make("tr", {}, make("th", {}, row), ...names.map(column => {
    const found = cell.get(row + " " + column) || cell.get(column + " " + row), [, , kind, told, fault] = found;
    const word = { found: told, done: "✓ all", part: "some" }[kind] || "–";
    return make("td", { class: kind, title: `${row} || ${column}: ${told}` }, fault ? button(word, () => list.pick(fault - 1), told) : word);
  })));
  const legend = [["found", "a fault: click to see it"], ["done", "✓ all: every schedule of its tests was run"], ["part", "some: not all schedules were run"], ["", "–: not run"]];
  const unrun = part.matrix.filter(one => !one[2]);
  return make("div", {}, make("div", { class: "matrix box", tabindex: 0 }, table),
    make("p", { class: "legend soft" }, ...legend.map(([kind, text]) => make("span", {}, kind ? make("i", { class: kind }) : "", text)), make("span", {}, "Each pair from the states that the sequences reach.")),
    unrun.length ? make("details", {}, make("summary", {}, `${unrun.length} pair${unrun.length === 1 ? " was" : "s were"} not run`), make("ul", {}, ...unrun.map(([one, other, , told]) => make("li", { class: "mono" }, `${one} || ${other}: ${told}`)))) : "");
}

function faultView(fault) {
  const view = findingView(fault, ["Shared object", make("code", {}, fault.before)],
    ...fault.calls.map((calls, n) => [make("span", {}, chip(`T${n + 1}`, fault.strands), " calls"), make("code", {}, calls)]),
    ...(fault.test ? [["Test", make("code", {}, fault.test)]] : []));
  if (fault.effects.length) view.querySelector(".copy, .summary, .facts").after(make("details", { class: "effects" }, make("summary", {}, `the same race shows in ${count(fault.effects.length, "other way")}`), make("ul", {}, ...fault.effects.map(one => make("li", {}, one)))));
  return view;
}
