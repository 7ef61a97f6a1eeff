// Orders of messages: what fails beside what passes, every execution in an index, the tree of orders, the curves.
SHOW.schedule = part => {
  const shown = make("div", { id: "run" });
  const list = chooser(part.runs.map(run => make("span", {}, make("b", { class: run.ended === "passed" ? "good" : "bad" }, `${run.number}. ${run.ended} `), make("span", { class: "soft mono" }, run.sequence.steps.map(step => step.task).join(" ")))),
    part.runs.map(run => `${run.ended} ${run.sequence.steps.map(step => step.title).join(" ")}`),
    n => { begin.length = 0; shown.replaceChildren(sequenceView(part.runs[n].sequence, "execution " + part.runs[n].number)); begin.forEach(start => start()); }, "executions");
  return [
    make("p", { class: "soft" }, part.facts),
    ...part.findings.map(found => findingView(found)),
    make("section", {}, make("h2", {}, "How coverage of orders grew"), curveView(part.curves, "executions") ?? make("p", { class: "soft" }, "It did not.")),
    make("section", {}, make("h2", {}, "Executions"), part.more > 0 ? make("p", { class: "soft" }, `${part.more} more were run and are not kept.`) : null, list.tools ?? "", make("div", { class: "box half" }, list.list), shown),
    make("section", {}, make("h2", {}, "The tree of orders"), treeView(part.tree, list.pick)),
    listOf("Did not fit", part.unfit), listOf("Warnings", part.warnings),
  ];
};
