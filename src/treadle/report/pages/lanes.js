// A schedule: a lane per strand over logical time, the source beside it, the values at that moment, the passing twin.
const ROW = 44;

// What a step on a whole container shows is an item or a length: not a value that it has from then on.
const isContainer = object => /^(dict|list|set|deque|bytearray)#[\w.]+$/.test(object);

function valueTexts(steps) {  // what each step did, with the value that was there before
  const known = new Map();
  return steps.map(step => {
    const before = known.get(step.object);
    let told = `${step.verb} ${step.object}`.trim();
    if (step.value !== "") {
      if (step.verb === "writes") told += before !== undefined && before !== step.value ? `: ${before} → ${step.value}` : ` = ${step.value}`;
      else told += ` → ${step.value}`;
      if (!isContainer(step.object)) known.set(step.object, step.value);
    }
    return told;
  });
}

function lanesView(found) {
  const steps = found.steps, strands = found.strands, texts = valueTexts(steps);
  const columns = `repeat(${strands.length}, minmax(170px, 1fr))`, wide = `${strands.length * 170}px`;
  const pair = new Set(found.pair), rowsTall = steps.length + (found.stuck.length ? 1 : 0);
  let now = found.pair.length ? found.pair[found.pair.length - 1] : steps.length - 1;
  const space = make("div", { class: "space", style: `height:${rowsTall * ROW}px; min-width:${wide}` });
  const arrows = draw("svg", { class: "over" });
  space.append(arrows);
  const headRow = make("div", { class: "lanehead", style: `grid-template-columns:${columns}; min-width:${wide}` }, ...strands.map(name => make("div", {}, name)));
  const walk = stepper(steps.length, now, show, go => pair.size ? [button("to the conflict", () => go([...pair].find(n => n > now) ?? found.pair[0]), "the accesses that clash")] : []);
  const box = make("div", { class: "lanes box tall", tabindex: 0, "aria-label": "schedule", on: { scroll: paint, keydown: walk.key } }, headRow, space);
  const side = make("div", { class: "side" });
  const rows = new Map();

  function row(n) {
    const step = steps[n], column = strands.indexOf(step.strand);
    const cells = strands.map((_, c) => make("div", { class: "op" + (c === column ? " mine" : "") }));
    cells[column].append(make("div", { class: "what", title: texts[n] }, texts[n]), make("div", { class: "where", title: step.place }, step.place));
    return make("div", { class: "row" + (pair.has(n) ? " pair" : ""), "data-step": n, style: `top:${n * ROW}px; grid-template-columns:${columns}`, on: { click: () => walk.go(n) } }, ...cells);
  }
  function paint() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 10), last = Math.min(steps.length - 1, first + Math.ceil(box.clientHeight / ROW) + 25);
    for (const [n, element] of rows) if (n < first || n > last) { element.remove(); rows.delete(n); }
    for (let n = first; n <= last; n++) {
      if (!rows.has(n)) { const element = row(n); rows.set(n, element); space.append(element); }
      rows.get(n).classList.toggle("now", n === now);
      rows.get(n).classList.toggle("later", n > now);
    }
    const width = space.clientWidth / strands.length, x = n => (strands.indexOf(steps[n].strand) + .5) * width, y = n => n * ROW + ROW / 2;
    arrows.setAttribute("width", space.clientWidth);
    arrows.setAttribute("height", rowsTall * ROW);
    const [defs, marker] = tip();
    arrows.replaceChildren(defs);
    for (const [strand, from, to, object] of found.waits) {
      if (to < first || from > last) continue;
      const lane = strands.indexOf(strand) * width + 12, start = y(from) + 24;
      arrows.append(draw("path", { class: "wait", d: `M${lane} ${start} L${lane} ${y(to) + 20}` }));
      if (to > from + 1 || to === steps.length) arrows.append(draw("text", { x: lane + 6, y: start + 16, class: "halo" }, `waits for ${object}`));
    }
    for (const [from, to] of found.arrows) {
      if (to < first || from > last) continue;
      const middle = (y(from) + y(to)) / 2, near = from === now || to === now;
      arrows.append(draw("path", { d: `M${x(from)} ${y(from) + 14} C${x(from)} ${middle + 14}, ${x(to)} ${middle - 14}, ${x(to)} ${y(to) - 18}`,
        fill: "none", stroke: "currentColor", opacity: near ? "1" : ".35", "marker-end": marker }));
    }
  }
  function show(n) {
    now = n;
    const top = now * ROW;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 3 * ROW) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    const lane = strands.indexOf(steps[now].strand) * space.clientWidth / strands.length, wide = space.clientWidth / strands.length;
    if (lane < box.scrollLeft || lane + wide > box.scrollLeft + box.clientWidth) box.scrollLeft = lane - (box.clientWidth - wide) / 2;
    paint();
    beside();
    const before = found.arrows.filter(([, to]) => to === now).map(([from, , why]) => `; it can, because ${why} (step ${from + 1})`);
    const after = found.arrows.filter(([from]) => from === now).map(([, to, why]) => `; ${why}, which goes on at step ${to + 1}`);
    return `step ${now + 1} of ${steps.length}: ${steps[now].strand} ${texts[now]}` + [...before, ...after].join("");
  }
  function beside() {
    const at = new Map(), values = new Map();  // strand -> its last step up to now; object -> value, who, value before
    for (let n = 0; n <= now; n++) {
      const step = steps[n];
      at.set(step.strand, n);
      if (step.value !== "" && !isContainer(step.object)) values.set(step.object, [step.value, step.strand, values.get(step.object)?.[0] ?? ""]);
    }
    const files = new Map();
    for (const [strand, n] of at) {
      const step = steps[n];
      if (data.files[step.file]) files.set(step.file, [...(files.get(step.file) || []), [strand, step.line, n]]);
    }
    const current = steps[now].file;
    side.replaceChildren(...[...files].sort((a, b) => (b[0] === current) - (a[0] === current)).map(([file, places]) => source(file, places)));
    side.querySelectorAll(".source").forEach(one => centre(one, one.querySelector("tr.now") ?? one.querySelector("tr.at")));
    if (values.size) side.append(make("table", { class: "grid values" }, make("caption", { class: "soft" }, "shared values at this moment"),
      make("tr", {}, ...["object", "value", "before", "last used by"].map(name => make("th", {}, name))),
      ...[...values].map(([object, [value, strand, before]]) => make("tr", {}, ...[object, value, before === value ? "" : before, strand].map(text => make("td", { class: "mono" }, text))))));
  }
  function source(file, places) {
    const wanted = places.map(place => place[1]);
    const clashing = new Set(found.pair.filter(n => steps[n].file === file).map(n => steps[n].line));
    const all = [...wanted, ...clashing];
    return sourceTable(file, Math.min(...all) - 6, Math.max(...all) + 6, line => {
      const here = places.filter(place => place[1] === line);
      const row = (here.some(place => place[2] === now) ? "now " : here.length ? "at " : "") + (clashing.has(line) ? "pair" : "");
      return { row, before: [make("td", { class: "who" }, here.map(place => place[0]).join(" "))] };
    });
  }
  begin.push(() => walk.go(now));
  addEventListener("resize", paint);
  return [walk.bar, make("div", { class: "split" }, box, side)];
}

function deadlockView(found) {
  const box = make("div", { class: "cause stuck" }, make("b", {}, "Nobody can go on:"));
  box.append(make("ul", {}, ...found.stuck.map(one => make("li", {}, make("b", {}, one.strand), ` ${one.operation} `, make("code", {}, one.object),
    one.held_by && one.held_by !== one.object ? make("span", {}, ", which ", make("b", {}, one.held_by), " has") : one.note ? ` (${one.note})` : "",
    one.holds.length ? ` (it holds ${one.holds.join(", ")})` : "", one.place ? make("span", { class: "soft" }, "  " + one.place) : "", one.source ? make("code", {}, "  " + one.source) : ""))));
  if (found.cycle.length > 1) box.append(cycleDrawing(found.cycle.map(name => found.stuck.find(one => one.strand === name))));
  return box;
}

function cycleDrawing(ring) {  // strand -> what it wants -> who has it -> ...
  const nodes = ring.flatMap(one => [[one.strand, "strand"], [one.object, "thing"]]), half = n => Math.max(28, 4 * nodes[n][0].length);
  const radius = 40 + 18 * nodes.length, widest = Math.max(...nodes.map((_, n) => half(n))), wide = 2 * (radius + 40 + widest + 60), high = 2 * radius + 60;
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
      draw("text", { x: middleX + 10 * right, y: middleY + 4 + 14 * down, "text-anchor": right > .3 ? "start" : right < -.3 ? "end" : "middle", class: "halo" }, kind === "strand" ? "wants" : "held by"));
  });
  nodes.forEach(([name, kind], n) => {
    const [x, y] = at(n);
    picture.append(draw("rect", { x: x - half(n), y: y - 13, width: 2 * half(n), height: 26, rx: kind === "strand" ? 13 : 3, fill: "var(--bg)", stroke: "currentColor" }),
      draw("text", { x, y: y + 4, "text-anchor": "middle" }, name));
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
    const [steps, texts] = sides[side];
    grid.append(make("div", { class: row.includes(null) ? place === apart ? "apart" : "other" : "" }, n === null ? "" : `${steps[n].strand} ${texts[n]}  ${steps[n].place.split(" ")[0]}`));
  }));
  return make("details", { class: "twin", open: "" }, make("summary", {}, `the nearest schedule that passes: they part at step ${first + apart + 1}; what comes at another time is marked`), make("div", { class: "box half", tabindex: 0, "aria-label": "the schedule that fails beside one that passes" }, grid));
}

// Where the names come from, and what the colours mean; only of what this schedule has.
function legend(found) {
  const threads = found.strands.some(name => /^T\d/.test(name)), others = found.strands.filter(name => name !== "main" && !/^T\d/.test(name));
  const first = found.steps.map(step => step.object.match(/^([A-Za-z_]\w*)#1\b/)).find(match => match);
  const made = found.steps.map(step => step.object.match(/^([A-Za-z_]\w*)#([A-Za-z_][\w#.]*)\.(\d+)\b/)).find(match => match);
  return [
    "Time goes down.",
    found.strands.includes("main") ? "main is the test itself." : "",
    threads ? "T1, T2, ... are the threads in the order in which they were started." : "",
    others.length ? `${others[0]} is named after what it runs${others.some(name => name.includes("#")) ? "; #2, #3, ... are others that run the same" : ""}.` : "",
    first ? `${first[0]} is the first ${first[1]} that was made.` : made ? `${made[0]} is ${made[1]} number ${made[3]} that ${made[2]} made.` : "",
    found.pair.length ? "Red: the accesses that clash." : "",
    "Blue: the step that is looked at. Yellow: where everybody else stands.",
    found.arrows.length ? "An arrow: what let somebody go on (told above at its ends)." : "",
    found.waits.length ? "A dashed line: somebody waits." : "",
  ].filter(Boolean).join(" ");
}

function findingView(found) {
  const root = make("section", { class: "finding" }, make("h2", {}, found.kind + ": " + found.message));
  if (found.raised) root.append(make("p", { class: "raised" }, make("b", {}, "Fails at: "), make("span", { class: "mono" }, found.raised)));
  if (found.cause) root.append(make("div", { class: "cause" }, make("span", {}, found.cause), ...(found.lines.length ? [make("table", { class: "racing mono" },
    ...found.lines.map(line => make("tr", {}, make("td", {}, line.who), make("td", { class: "soft" }, line.place), make("td", {}, line.source))))] : [])));
  if (found.stuck.length) root.append(deadlockView(found));
  if (found.repair) root.append(make("p", { class: "repair" }, make("b", {}, "What to do: "), found.repair));
  for (const note of found.notes) root.append(make("p", { class: "soft" }, note));
  root.append(...whereAndAgain(found, found.steps.length));
  if (found.steps.length) root.append(...lanesView(found), make("p", { class: "soft" }, legend(found)));
  const twin = twinView(found);
  if (twin) root.append(twin);
  if (found.text) root.append(make("details", {}, make("summary", {}, "as text"), make("pre", {}, found.text)));
  return root;
}
