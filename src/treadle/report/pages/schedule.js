// Orders of messages: what fails beside what passes, every execution in an index, the tree of orders, the curves.
SHOW.schedule = part => {
  const shown = make("div", { id: "run" });
  const list = chooser(part.runs.map(run => make("span", {}, make("b", { class: run.ended === "passed" ? "good" : "bad" }, `${run.number}. ${run.ended} `), make("span", { class: "soft mono" }, run.sequence.steps.map(step => step.task).join(" ")))),
    part.runs.map(run => `${run.ended} ${run.sequence.steps.map(step => step.title).join(" ")}`),
    n => { begin.length = 0; shown.replaceChildren(sequenceView(part.runs[n].sequence, "execution " + part.runs[n].number)); begin.forEach(start => start()); }, "executions");
  return [
    make("p", { class: "soft" }, part.facts),
    ...part.findings.map(found => make("section", { class: "finding" }, make("h2", {}, `${found.kind}: ${found.message}`),
      found.raised ? make("p", { class: "raised" }, make("b", {}, "Fails at: "), make("span", { class: "mono" }, found.raised)) : null,
      found.order.length ? make("p", { class: "cause" }, "It takes only: " + found.order.join(", "), found.order.some(one => one.includes("#")) ? make("span", { class: "soft" }, " (#1, #2, ...: in the order in which they were sent)") : null) : null,
      found.note ? make("p", {}, found.note) : null,
      found.order.length ? make("p", { class: "repair" }, make("b", {}, "What to do: "), "make it right in this order as well, or make the order impossible: ask and wait for the answer, or send both in one message; then run the same command again") : null,
      ...found.notes.map(note => make("p", { class: "soft" }, note)), ...whereAndAgain(found),
      make("div", { class: found.passes ? "even" : "" }, sequenceView(found.fails, "the failing execution"), found.passes ? sequenceView(found.passes, "the nearest execution that passes") : null),
      make("details", {}, make("summary", {}, "as text"), make("pre", {}, found.text)))),
    make("section", {}, make("h2", {}, "How coverage of orders grew"), curveView(part.curves, "executions") ?? make("p", { class: "soft" }, "It did not.")),
    make("section", {}, make("h2", {}, "Executions"), part.more > 0 ? make("p", { class: "soft" }, `${part.more} more were run and are not kept.`) : null, list.tools ?? "", make("div", { class: "box half" }, list.list), shown),
    make("section", {}, make("h2", {}, "The tree of orders"), treeView(part.tree)),
    listOf("Did not fit", part.unfit), listOf("Warnings", part.warnings),
  ];
};
