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
  const nodes = ring.flatMap(one => [[one.strand, "strand"], [one.object, "thing"]]);
  const size = 90 + 22 * nodes.length, middle = size / 2 + 30, radius = size / 2 - 10, wide = 2 * middle + 80;
  const at = n => [wide / 2 + (radius + 40) * Math.sin(2 * Math.PI * n / nodes.length), middle - radius * Math.cos(2 * Math.PI * n / nodes.length)];
  const [defs, marker] = tip();
  const picture = draw("svg", { class: "cycle", viewBox: `0 0 ${wide} ${2 * middle}`, width: wide, style: "max-width:100%;height:auto", role: "img" },
    draw("title", {}, "the ring of strands that wait for each other"), defs);
  nodes.forEach(([name, kind], n) => {
    const [x, y] = at(n), [u, v] = at((n + 1) % nodes.length), long = Math.hypot(u - x, v - y), cut = 34 / long;
    picture.append(draw("path", { d: `M${x + (u - x) * cut} ${y + (v - y) * cut} L${u - (u - x) * cut} ${v - (v - y) * cut}`, stroke: "var(--bad)", fill: "none", "stroke-width": 2, "marker-end": marker, color: "var(--bad)" }));
    picture.append(draw("text", { x: (x + u) / 2, y: (y + v) / 2 - 4, "text-anchor": "middle", class: "halo" }, kind === "strand" ? "wants" : "held by"));
  });
  nodes.forEach(([name, kind], n) => {
    const [x, y] = at(n), half = Math.max(28, 4 * name.length);
    picture.append(draw("rect", { x: x - half, y: y - 13, width: 2 * half, height: 26, rx: kind === "strand" ? 13 : 3, fill: "var(--bg)", stroke: "currentColor" }),
      draw("text", { x, y: y + 4, "text-anchor": "middle" }, name));
  });
  return picture;
}

function twinView(found) {  // the failing schedule beside the nearest one that passes
  if (!found.passing.length) return null;
  const sides = [[found.steps, valueTexts(found.steps)], [found.passing, valueTexts(found.passing)]];
  const first = found.twin[0][0] ?? found.twin[0][1], apart = found.twin.findIndex(row => row.includes(null));
  const grid = make("div", { class: "compare mono" }, make("div", {}, make("b", { class: "bad" }, "this fails")), make("div", {}, make("b", { class: "good" }, "this passes")));
  if (first) grid.append(make("div", { class: "soft" }, `${first} steps, the same in both`), make("div", {}));
  found.twin.forEach((row, place) => row.forEach((n, side) => {
    const [steps, texts] = sides[side];
    grid.append(make("div", { class: row.includes(null) ? place === apart ? "apart" : "other" : "" }, n === null ? "" : `${steps[n].strand} ${texts[n]}  ${steps[n].place.split(" ")[0]}`));
  }));
  return make("details", { class: "twin", open: "" }, make("summary", {}, `the nearest schedule that passes: they part at step ${first + apart + 1}; what comes at another time is marked`), make("div", { class: "box half" }, grid));
}

function legend(found) {
  const named = found.steps.map(step => step.object.match(/^([A-Za-z_]\w*)#1\b/)).find(match => match);
  return "Time goes down. main is the test itself, T1, T2, ... are the threads in the order in which they were started"
    + (named ? `; ${named[0]} is the first ${named[1]} that was made` : "")
    + ". Red: the accesses that clash. Blue: the step that is looked at. Yellow: the last step of each other thread. An arrow: what let a thread go on (told above at its ends). A dashed line: the thread waits.";
}

function findingView(found) {
  const root = make("section", { class: "finding" }, make("h2", {}, found.kind + ": " + found.message));
  if (found.cause) root.append(make("div", { class: "cause" }, make("span", {}, found.cause), ...(found.lines.length ? [make("table", { class: "racing mono" },
    ...found.lines.map(line => make("tr", {}, make("td", {}, line.who), make("td", { class: "soft" }, line.place), make("td", {}, line.source))))] : [])));
  if (found.stuck.length) root.append(deadlockView(found));
  for (const note of found.notes) root.append(make("p", { class: "soft" }, note));
  if (found.repair) root.append(make("p", { class: "repair" }, make("b", {}, "What to do: "), found.repair));
  if (found.builds) root.append(make("p", {}, make("b", {}, "Can happen on: "), found.builds.replace(/^every build/, "every build of Python, with the GIL and without it")));
  if (found.replay) root.append(make("p", {}, make("b", {}, "See it again: "), "this runs the very schedule, from the folder where the test was explored"), copyLine(found.replay));
  if (found.steps.length) root.append(...lanesView(found));
  if (found.steps.length) root.append(make("p", { class: "soft" }, legend(found)));
  const twin = twinView(found);
  if (twin) root.append(twin);
  if (found.text) root.append(make("details", {}, make("summary", {}, "as text"), make("pre", {}, found.text)));
  return root;
}
