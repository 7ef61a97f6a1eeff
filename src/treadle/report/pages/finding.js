// A failure: what happened and why, what to do, how to see it again; then the schedule itself, and one that passes.
function findingView(found, ...more) {
  const told = [
    found.raised ? ["Fails at", make("span", { class: "mono raised" }, found.raised)] : null,
    ...more,
    found.repair ? ["What to do", make("span", { class: "repair" }, found.repair)] : null,
    found.builds ? ["Can happen on", found.builds.replace(/^every build/, "every build of Python, with the GIL and without it")] : null,
    ...found.notes.map(note => ["Note", note]),
  ].filter(Boolean);
  const facts = make("dl", { class: "facts" }, ...told.flatMap(([name, what]) => [make("dt", {}, name), make("dd", {}, what)]));
  const ring = found.cycle?.length > 1 ? cycleDrawing(found.cycle.map(name => found.stuck.find(one => one.strand === name)), found.strands) : null;
  const cause = found.cause ? causeView(found) : found.stuck?.length ? stuckView(found) : null;
  return make("section", { class: "finding" },
    make("h2", { class: "failure" }, make("span", { class: "bad" }, found.kind + ": "), found.stuck?.length ? "nobody can go on" : found.message),
    ring ? make("div", { class: "summary" }, make("div", {}, cause, facts), ring) : cause ? make("div", { class: "summary" }, cause, facts) : facts,
    ...again(found, found.steps?.length),
    ...(found.fails ? ordersView(found) : found.steps.length ? [...lanesView(found), legend(found), twinView(found)] : []),
    found.text ? make("details", {}, make("summary", {}, "as text"), make("pre", {}, found.text)) : null);
}

function causeView(found) {
  const lines = (found.lines ?? []).map(line => make("tr", {}, make("td", {}, chip(line.strand, found.strands), " " + line.verb), make("td", { class: "soft" }, line.place), make("td", {}, coloured(line.source))));
  return make("div", { class: "cause" }, make("span", {}, found.cause), lines.length ? make("table", { class: "racing mono" }, ...lines) : null);
}

function ordersView(found) {
  const at = found.raised_at, source = at && sourceTable(at[0], at[1] - 6, at[1] + 6, line => ({ row: line === at[1] ? "raised now" : "", before: [make("td", { class: "who" }, line === at[1] ? make("span", { class: "bad" }, "fails") : "")] }));
  return [make("div", { class: found.passes ? "even" : "" }, sequenceView(found.fails, "the failing execution"), found.passes ? sequenceView(found.passes, "the nearest execution that passes") : null), source];
}

function stuckView(found) {
  const held = one => one.held_by && one.held_by !== one.object ? make("span", {}, ", which ", chip(one.held_by, found.strands), " has") : one.note ? ` (${one.note})` : "";
  return make("div", { class: "cause stuck" }, make("ul", {}, ...found.stuck.map(one => make("li", {}, chip(one.strand, found.strands), one.holds.length ? ` holds ${one.holds.join(", ")} and` : "", ` ${one.wants} ${one.object}`, held(one),
    one.place ? make("div", { class: "mono" }, make("span", { class: "soft" }, one.place + "  "), coloured(one.source)) : ""))));
}

function cycleDrawing(ring, strands) {  // strand -> what it wants -> who has it -> ...
  const nodes = ring.flatMap(one => [[one.strand, "strand"], [one.object, "thing"]]), half = n => Math.max(28, 4 * nodes[n][0].length);
  const radius = 20 + 18 * nodes.length, widest = Math.max(...nodes.map((_, n) => half(n))), wide = 2 * (radius + 40 + widest + 60), high = 2 * radius + 36;
  const at = n => [wide / 2 + (radius + 40) * Math.sin(2 * Math.PI * n / nodes.length), high / 2 - radius * Math.cos(2 * Math.PI * n / nodes.length)];
  const [defs, marker] = tip();
  const picture = draw("svg", { class: "cycle", viewBox: `0 0 ${wide} ${high}`, width: wide, style: "max-width:100%;height:auto", role: "img" },
    draw("title", {}, "the ring of strands that wait for each other"), defs);
  nodes.forEach(([, kind], n) => {
    const next = (n + 1) % nodes.length, [x, y] = at(n), [u, v] = at(next), long = Math.hypot(u - x, v - y), dx = (u - x) / long, dy = (v - y) / long;
    const out = one => Math.min(half(one) / Math.abs(dx || 1e-9), 13 / Math.abs(dy || 1e-9)) + 4;  // from the middle of a node to its border
    const [from, to] = [out(n), long - out(next)], [middleX, middleY] = [(x + u) / 2, (y + v) / 2];
    const side = middleX - wide / 2, away = Math.hypot(side, middleY - high / 2) || 1, right = side / away, down = (middleY - high / 2) / away;
    picture.append(draw("path", { d: `M${x + dx * from} ${y + dy * from} L${x + dx * to} ${y + dy * to}`, stroke: "var(--bad)", fill: "none", "stroke-width": 2, "marker-end": marker, color: "var(--bad)" }),
      draw("text", { x: middleX + 12 * right, y: middleY + 4 + 16 * down, "text-anchor": right > .3 ? "start" : right < -.3 ? "end" : "middle", class: "halo" }, kind === "strand" ? "wants" : "held by"));
  });
  nodes.forEach(([name, kind], n) => {
    const [x, y] = at(n), colour = kind === "strand" ? colourOf(name, strands) : "currentColor";
    picture.append(draw("rect", { x: x - half(n), y: y - 13, width: 2 * half(n), height: 26, rx: kind === "strand" ? 13 : 3, fill: "var(--bg)", stroke: colour, "stroke-width": 1.5 }),
      draw("text", { x, y: y + 4, "text-anchor": "middle", style: `fill:${colour};font-weight:600` }, name));
  });
  return picture;
}

function twinView(found) {  // the failing schedule beside the nearest one that passes
  if (!found.passing.length) return null;
  const sides = [[found.steps, valueTexts(found.steps)], [found.passing, valueTexts(found.passing)]];
  const first = found.twin[0][0] ?? found.twin[0][1], apart = found.twin.findIndex(row => row.includes(null));
  const grid = make("div", { class: "compare mono" }, make("div", {}, make("b", { class: "bad" }, "this fails")), make("div", {}, make("b", { class: "good" }, "this passes")));
  if (first) grid.append(make("div", { class: "soft" }, `${count(first, "step")}, the same in both`), make("div", {}));
  found.twin.forEach((row, place) => row.forEach((n, side) => {
    const [steps, texts] = sides[side], step = steps[n];
    grid.append(make("div", { class: row.includes(null) ? place === apart ? "apart" : "other" : "" }, ...(step ? [chip(step.strand, found.strands), ` ${texts[n].join("")}`, make("span", { class: "soft" }, `  ${step.place.split(" ")[0]}`)] : [])));
  }));
  return make("details", { class: "twin", open: "" }, make("summary", {}, make("b", {}, "The nearest schedule that passes"), `: they part at step ${first + apart + 1}; what comes at another time is marked`), make("div", { class: "box half", tabindex: 0, "aria-label": "the schedule that fails beside one that passes" }, grid));
}

// Where the names come from, and what the colours mean; only of what this schedule has.
function legend(found) {
  const threads = found.strands.some(name => /^T\d/.test(name)), others = found.strands.filter(name => name !== "main" && !/^T\d/.test(name));
  const first = found.steps.map(step => step.object.match(/^([A-Za-z_]\w*)#1\b/)).find(match => match);
  const made = found.steps.map(step => step.object.match(/^([A-Za-z_]\w*)#([A-Za-z_][\w#.]*)\.(\d+)\b/)).find(match => match);
  const colours = [["now", "the step that is looked at"], ["at", "where everybody else stands"], ...(found.pair.length ? [["pair", "the accesses that clash"]] : [])];
  const names = [
    "Time goes down.",
    found.strands.includes("main") ? "main is the test itself." : "",
    threads ? "T1, T2, ... are the threads in the order in which they were started." : "",
    others.length ? `${others[0]} is named after what it runs${others.some(name => name.includes("#")) ? "; #2, #3, ... are others that run the same" : ""}.` : "",
    first ? `${first[0]} is the first ${first[1]} that was made.` : made ? `${made[0]} is ${made[1]} number ${made[3]} that ${made[2]} made.` : "",
    found.arrows.length ? "An arrow: what let somebody go on (told above at its ends)." : "",
    found.waits.length ? "A dashed line: somebody waits." : "",
  ].filter(Boolean).join(" ");
  return make("p", { class: "legend soft" }, ...colours.map(([kind, text]) => make("span", {}, make("i", { class: kind }), text)), make("span", {}, names));
}
