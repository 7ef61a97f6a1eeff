// A schedule: a lane per strand over logical time, the source beside it, and the values at that moment.
const ROW = 44, GUTTER = 20;  // a step's height; the room right of every lane's steps, in which arrows go down

// What a step on a whole container shows is an item or a length: not a value that it has from then on.
const isContainer = object => /^(dict|list|set|deque|bytearray)#[\w.]+$/.test(object);

function valueTexts(steps) {  // what each step did, and the value with the one that was there before
  const known = new Map();
  return steps.map(step => {
    const before = known.get(step.object);
    let value = "";
    if (step.value !== "") {
      value = step.verb !== "writes" ? ` → ${step.value}` : before !== undefined && before !== step.value ? `: ${before} → ${step.value}` : ` = ${step.value}`;
      if (!isContainer(step.object)) known.set(step.object, step.value);
    }
    return [`${step.verb} ${step.object}`.trim(), value];
  });
}

function lanesView(found) {
  const steps = found.steps, strands = found.strands, texts = valueTexts(steps), lane = new Map(strands.map((name, n) => [name, n]));
  const least = strands.length > 3 ? 150 : 170, columns = `repeat(${strands.length}, minmax(${least}px, 1fr))`, wide = `${strands.length * least}px`;
  const pair = new Set(found.pair), stuck = new Map(found.stuck.filter(one => lane.has(one.strand)).map(one => [one.strand, one]));
  const total = steps.length + (stuck.size ? 1 : 0), END = steps.length;  // in a deadlock, one row more: everybody waits
  let now = found.pair.length ? found.pair[found.pair.length - 1] : total - 1;
  const space = make("div", { class: "space", style: `height:${total * ROW}px; min-width:${wide}` });
  const arrows = draw("svg", { class: "over" });
  space.append(arrows);
  const headRow = make("div", { class: "lanehead", style: `grid-template-columns:${columns}; min-width:${wide}` }, ...strands.map(name => make("div", {}, chip(name, strands))));
  const walk = stepper(total, now, show, go => pair.size ? [button("to the conflict", () => go([...pair].find(n => n > now) ?? found.pair[0]), "the accesses that clash")] : [], overview(steps, strands, pair, total));
  const box = make("div", { class: "lanes box tall", tabindex: 0, "aria-label": "schedule", on: { scroll: paint, keydown: walk.key } }, headRow, space);
  const side = make("div", { class: "side" });
  const rows = new Map();

  function card(name, [what, value], place) {
    const told = make("div", { class: "what", title: what + value }, make("span", {}, what), value ? make("span", { class: "value" }, value) : null);
    return make("div", { class: "mine", style: paintOf(name, strands) }, told, make("div", { class: "where", title: place }, place));
  }
  function row(n) {
    const cards = n === END ? [...stuck.values()].map(one => [one.strand, card(one.strand, [`waits for ${one.object}`, ""], one.place)])
      : [[steps[n].strand, card(steps[n].strand, texts[n], steps[n].place)]];
    const cells = strands.map(name => make("div", { class: "op", style: paintOf(name, strands) }));
    for (const [name, one] of cards) cells[lane.get(name)].append(one);
    return make("div", { class: "row" + (pair.has(n) || n === END ? " pair" : ""), "data-step": n, style: `top:${n * ROW}px; grid-template-columns:${columns}`, on: { click: () => walk.go(n) } }, ...cells);
  }
  function paint() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 10), last = Math.min(total - 1, first + Math.ceil(box.clientHeight / ROW) + 25);
    for (const [n, element] of rows) if (n < first || n > last) { element.remove(); rows.delete(n); }
    for (let n = first; n <= last; n++) {
      if (!rows.has(n)) { const element = row(n); rows.set(n, element); space.append(element); }
      rows.get(n).classList.toggle("now", n === now);
      rows.get(n).classList.toggle("later", n > now);
    }
    paintArrows(first, last);
  }
  function paintArrows(first, last) {
    const width = space.clientWidth / strands.length, y = n => n * ROW + ROW / 2, of = n => lane.get(steps[n].strand);
    arrows.setAttribute("width", space.clientWidth);
    arrows.setAttribute("height", total * ROW);
    const [defs, marker] = tip();
    arrows.replaceChildren(defs);
    for (const [strand, from, to, object] of found.waits) {
      if (to < first || from > last) continue;
      const x = lane.get(strand) * width + 5, start = y(from) + 24;
      arrows.append(draw("path", { class: "wait", d: `M${x} ${start} L${x} ${to === END ? to * ROW : y(to) + 20}` }));
      if (to > from + 1 && to !== END) arrows.append(draw("text", { x: x + 8, y: start + 16, class: "halo" }, `waits for ${object}`));
    }
    // Of one row only one lane is used: an arrow that goes down between two lanes, and then along its end's row, crosses no text.
    found.arrows.forEach(([from, to], number) => {
      if (to < first || from > last) return;
      const right = of(to) > of(from), shift = number % 3 * 5;
      const start = (of(from) + 1) * width - GUTTER, down = right ? start + 6 + shift : of(from) * width - 6 - shift;
      const end = right ? of(to) * width + 1 : (of(to) + 1) * width - GUTTER + 4;
      arrows.append(draw("path", { class: "lets" + (from === now || to === now ? " near" : ""), d: `M${right ? start : of(from) * width + 4} ${y(from) + 6} H${down} V${y(to) - 6} H${end}`, "marker-end": marker }));
    });
  }
  function show(n) {
    now = n;
    const top = now * ROW;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 3 * ROW) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    if (now < END) {
      const wide = space.clientWidth / strands.length, left = lane.get(steps[now].strand) * wide;
      if (left < box.scrollLeft || left + wide > box.scrollLeft + box.clientWidth) box.scrollLeft = left - (box.clientWidth - wide) / 2;
    }
    paint();
    beside();
    if (now === END) return `step ${total} of ${total}: nobody can go on`;
    const before = found.arrows.filter(([, to]) => to === now).map(([from, , why]) => `; it can, because ${why} (step ${from + 1})`);
    const after = found.arrows.filter(([from]) => from === now).map(([, to, why]) => `; ${why}, and ${steps[to].strand} goes on at step ${to + 1}`);
    return `step ${now + 1} of ${total}: ${steps[now].strand} ${texts[now].join("")}` + [...before, ...after].join("");
  }
  function beside() {
    const at = new Map(), values = new Map();  // strand -> its last step up to now; object -> value, who, value before
    steps.slice(0, now + 1).forEach((step, n) => {
      at.set(step.strand, { strand: step.strand, file: step.file, line: step.line, now: n === now });
      if (step.value !== "" && !isContainer(step.object)) values.set(step.object, [step.value, step.strand, values.get(step.object)?.[0] ?? ""]);
    });
    if (now === END) for (const one of stuck.values()) if (one.file) at.set(one.strand, { ...one, now: true });
    const files = new Map(found.raised_at && data.files[found.raised_at[0]] ? [[found.raised_at[0], []]] : []);
    for (const place of at.values()) if (data.files[place.file]) files.set(place.file, [...(files.get(place.file) || []), place]);
    const current = (steps[now] ?? [...stuck.values()][0]).file;
    side.replaceChildren(...[...files].sort((a, b) => (b[0] === current) - (a[0] === current)).map(([file, places]) => source(file, places)));
    side.querySelectorAll(".source").forEach(one => centre(one, one.querySelector("tr.now") ?? one.querySelector("tr.at, tr.raised")));
    if (values.size) side.append(make("table", { class: "grid values" }, make("caption", { class: "soft" }, "shared values at this moment"),
      make("tr", {}, ...["object", "value", "before", "by"].map(name => make("th", {}, name))),
      ...[...values].map(([object, [value, strand, before]]) => make("tr", { class: object === steps[now]?.object ? "now" : "" }, ...[object, value, before === value ? "" : before].map(text => make("td", { class: "mono" }, text)), make("td", {}, chip(strand, strands))))));
  }
  function source(file, places) {
    const raised = found.raised_at && found.raised_at[0] === file ? found.raised_at[1] : 0;
    const clashing = new Set(found.pair.filter(n => steps[n].file === file).map(n => steps[n].line));
    const all = [...places.map(place => place.line), ...clashing, ...(raised ? [raised] : [])];
    return sourceTable(file, Math.min(...all) - 6, Math.max(...all) + 6, line => {
      const here = places.filter(place => place.line === line);
      const row = (here.some(place => place.now) ? "now " : here.length ? "at " : "") + (clashing.has(line) ? "pair " : "") + (line === raised ? "raised" : "");
      return { row, before: [make("td", { class: "who" }, ...here.map(place => chip(place.strand, strands)), line === raised ? make("span", { class: "bad", title: "the exception comes from here" }, "fails") : null)] };
    });
  }
  begin.push(() => walk.go(now));
  addEventListener("resize", paint);
  return [walk.bar, make("div", { class: "split" }, box, side)];
}

// The whole schedule in one line: whose turn it is, and where it clashes.
function overview(steps, strands, pair, total) {
  const stops = [], part = 100 / total;
  steps.forEach((step, n) => {
    if (n && step.strand === steps[n - 1].strand && !pair.has(n) && !pair.has(n - 1)) stops.pop();
    else stops.push(`${colourOf(step.strand, strands)} ${n * part}%`);
    stops.push(`${colourOf(step.strand, strands)} ${(n + 1) * part}%`);
  });
  if (total > steps.length) stops.push(`var(--bad) ${steps.length * part}% 100%`);
  return make("div", { class: "overview", "aria-hidden": "true", style: `background:linear-gradient(90deg,${stops.join()})` },
    ...[...pair].map(n => make("i", { style: `left:${(n + .5) * part}%` })));
}
