// A run of actors: a sequence diagram that is stepped through, with what waits in every queue.
const HEAD = 46, STEP = 34;

// A step of a task has a bar of its own; a step of receiving is its arrow.
const ownTask = step => !step.arrows.length || step.arrows.some(arrow => arrow.from === step.actor);

function sequenceView(run, title) {
  const COLUMN = run.columns.length > 3 ? 136 : 170;
  const order = run.columns.map(column => column.name), x = name => 20 + COLUMN / 2 + order.indexOf(name) * COLUMN;
  const width = order.length * COLUMN + 60, rows = [];
  let y = HEAD + 10;
  for (const step of run.steps) { const own = ownTask(step), high = (own ? 30 : 26) + step.arrows.length * 20 - (own ? 0 : 20); rows.push([y, high]); y += high + 8; }
  const stuck = Object.entries(run.waiting), bottom = y + 8, height = bottom + (stuck.length ? 30 + 16 * Math.max(...stuck.map(([, notes]) => notes.length)) : 0);
  const [defs, marker] = tip();
  const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" }, draw("title", {}, title), defs);
  const short = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
  for (const column of run.columns) picture.append(draw("line", { x1: x(column.name), x2: x(column.name), y1: 34, y2: bottom, stroke: "var(--line)", "stroke-dasharray": "4 3" }),
    draw("rect", { x: x(column.name) - COLUMN / 2 + 7, y: 8, width: COLUMN - 14, height: 26, rx: 4, fill: "var(--panel)", stroke: "currentColor" }),
    draw("text", { x: x(column.name), y: 25, "text-anchor": "middle", style: "font-weight:600" }, short(column.label, Math.floor(COLUMN / 8)), draw("title", {}, column.label)));
  const groups = run.steps.map((step, n) => {
    const [top, high] = rows[n], mark = n === run.marked;
    const group = draw("g", { class: "seqstep", "data-step": n, style: "cursor:pointer" },
      draw("rect", { class: "back", x: 2, y: top - 2, width: width - 4, height: high + 4, fill: mark ? "var(--pair)" : "transparent", rx: 3 }));
    if (ownTask(step)) group.append(draw("rect", { x: x(step.actor) - 56, y: top + 4, width: 112, height: 20, rx: 3, fill: "var(--here)", stroke: "currentColor" }),
      draw("text", { x: x(step.actor), y: top + 18, "text-anchor": "middle" }, short(step.task, 16), draw("title", {}, step.title)));
    step.arrows.forEach((arrow, k) => {
      const at = top + (ownTask(step) ? 42 : 20) + k * 20, from = x(arrow.from), to = x(arrow.to);
      const right = to >= from ? 1 : -1, label = (arrow.new ? "new " : "") + arrow.label;
      const room = Math.max(20, Math.floor(Math.abs(to - from) / 6.6));
      group.append(draw("path", { d: from === to ? `M${from} ${at - 6} h26 v10 h-22` : `M${from} ${at} L${to - 3 * right} ${at}`, fill: "none", stroke: arrow.new ? "var(--good)" : mark ? "var(--bad)" : "currentColor", "stroke-dasharray": arrow.new ? "5 3" : "none", "marker-end": marker }),
        draw("text", { class: "halo", x: from === to ? from + 32 : (from + to) / 2, y: at - 4, "text-anchor": from === to ? "start" : "middle", style: "fill:var(--fg)" }, short(label, room), draw("title", {}, label)));
    });
    group.addEventListener("click", () => walk.go(n));
    picture.append(group);
    return group;
  });
  for (const [name, notes] of stuck) {
    picture.append(draw("rect", { x: x(name) - 60, y: bottom, width: 120, height: 20, rx: 3, fill: run.deadlock ? "var(--pair)" : "var(--mark)", stroke: "currentColor" }),
      draw("text", { x: x(name), y: bottom + 14, "text-anchor": "middle" }, run.deadlock ? "deadlock" : "waits"));
    notes.forEach((note, n) => picture.append(draw("text", { x: x(name), y: bottom + 34 + 16 * n, "text-anchor": "middle" }, short(note, 26), draw("title", {}, note))));
  }
  const queues = make("div", {}), box = make("div", { class: "box tall", tabindex: 0, on: { keydown: event => walk.key(event) } }, picture);
  let last = null;
  const start = run.marked ?? (run.deadlock ? run.steps.length - 1 : 0);
  const walk = stepper(run.steps.length, start, n => {
    const back = group => group.querySelector(".back");
    if (last !== null) back(groups[last]).setAttribute("fill", last === run.marked ? "var(--pair)" : "transparent");
    last = n;
    back(groups[n]).setAttribute("fill", "var(--here)");
    const [top] = rows[n];
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 60) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    const sides = [run.steps[n].actor, ...run.steps[n].arrows.flatMap(arrow => [arrow.from, arrow.to])].map(x);
    const [left, right] = [Math.min(...sides) - COLUMN / 2, Math.max(...sides) + COLUMN / 2];
    if (left < box.scrollLeft || right > box.scrollLeft + box.clientWidth) box.scrollLeft = Math.max(right - box.clientWidth, 0);
    const waiting = run.steps[n].queues;
    queues.replaceChildren(make("table", { class: "grid queues" }, make("caption", { class: "soft" }, "waiting in the queues after this step"),
      ...order.filter(name => (waiting[name] || []).length).map(name => make("tr", {}, make("th", {}, name), make("td", { class: "mono" }, waiting[name].join("  ·  ")))),
      Object.keys(waiting).length ? "" : make("tr", {}, make("td", { class: "soft" }, "nothing"))));
    return `step ${n + 1} of ${run.steps.length}: ${run.steps[n].title}`;
  });
  if (!run.steps.length) return make("p", { class: "soft" }, "Nothing was received.");
  begin.push(() => walk.go(start));
  return make("section", { class: "sequence" }, make("h3", { class: run.note.includes("passes") || run.note === "passed" || run.note === "completed" ? "good" : "bad" }, run.note), walk.bar, box, queues);
}
