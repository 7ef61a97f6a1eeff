// An actor's method: an index over its cases, the chosen one as a sequence diagram, the tree of executions, the curve.
SHOW.actor = part => {
  const shown = make("div", { id: "case" });
  const bad = one => one.outcome === "failed" || one.outcome === "deadlock";
  const list = chooser(part.cases.map((one, n) => make("div", {}, make("b", { class: bad(one) ? "bad" : "good" }, `${n + 1}. ${one.outcome}`), make("div", { class: "mono" }, one.inputs || "no inputs"), make("div", { class: "soft mono" }, one.order))),
    part.cases.map(one => [one.outcome, one.inputs, one.order, one.afterwards].join(" ")), n => show(part.cases[n]), "cases");
  function show(one) {
    begin.length = 0;
    shown.replaceChildren(...[make("h2", {}, one.outcome), make("p", {}, make("b", {}, "When: "), make("span", { class: "mono" }, one.condition)),
      one.stuck.length ? make("div", { class: "cause stuck" }, make("b", {}, bad(one) ? "Nobody can go on:" : "Still waiting at the end:"), make("table", { class: "racing mono" },
        ...one.stuck.map(place => make("tr", {}, make("td", {}, place.who), make("td", { class: "soft" }, place.place), make("td", {}, coloured(place.source)))))) : null,
      make("div", { class: "even" }, make("div", {}, make("h3", {}, "Before"), make("pre", { class: "wrap" }, one.inputs || "nothing")), make("div", {}, make("h3", {}, "Afterwards"), make("pre", { class: "wrap" }, one.afterwards || "nothing"))),
      one.sequence ? sequenceView(one.sequence, "the case as a sequence of tasks") : make("p", { class: "mono" }, one.order),
      ...again(one)].filter(Boolean));
    begin.forEach(start => start());
  }
  if (part.cases.length) begin.push(() => setTimeout(() => list.pick(Math.max(0, part.cases.findIndex(bad)))));
  return [
    make("ul", { class: "soft" }, ...part.facts.map(fact => make("li", {}, fact))),
    make("div", { class: "split turned" }, make("div", {}, make("h2", {}, count(part.cases.length, "case")), part.more > 0 ? make("p", { class: "soft" }, `${part.more} more are counted and not told (--cases all).`) : "", list.tools ?? "", make("div", { class: "box tall" }, list.list)), shown),
    part.curves.tests.length > 1 ? make("section", {}, make("h2", {}, "How the tests were found"), curveView(part.curves, "states")) : null,
    part.tree ? make("section", {}, make("h2", {}, "The tree of executions"), treeView(part.tree)) : null,
  ];
};
