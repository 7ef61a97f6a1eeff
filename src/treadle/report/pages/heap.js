// A heap as boxes and arrows: names on the left, objects to the right by how far they are away.
function heapView(heap, title) {
  const boxes = Object.entries(heap.boxes), roots = Object.entries(heap.roots);
  const depth = new Map(), queue = [];
  for (const [, cell] of roots) if (cell.box && !depth.has(cell.box)) { depth.set(cell.box, 1); queue.push(cell.box); }
  while (queue.length) {
    const name = queue.shift();
    for (const [, cell] of heap.boxes[name].rows) if (cell.box && !depth.has(cell.box)) { depth.set(cell.box, depth.get(name) + 1); queue.push(cell.box); }
  }
  const LINE = 20, GAP = 46, letters = text => 7.4 * Math.min(text.length, 34) + 16;
  const textOf = (label, cell) => `${label}: ${cell.text ?? ""}`;
  const wide = (rows, head) => Math.max(60, letters(head), ...rows.map(([label, cell]) => letters(textOf(label, cell)) + (cell.box ? 10 : 0)));
  const columns = [{ x: 4, width: wide(roots, ""), y: 8 }];
  const place = new Map();
  for (let level = 1; level <= Math.max(0, ...depth.values()); level++) {
    const here = boxes.filter(([name]) => depth.get(name) === level), before = columns[level - 1];
    const column = { x: before.x + before.width + GAP, width: Math.max(...here.map(([, box]) => wide(box.rows, box.title))), y: 8 };
    for (const [name, box] of here) { place.set(name, { x: column.x, y: column.y, width: column.width }); column.y += (box.rows.length + 1) * LINE + 16; }
    columns.push(column);
  }
  const width = Math.max(...columns.map(column => column.x + column.width)) + 24, height = Math.max(roots.length * (LINE + 6) + 16, ...columns.map(column => column.y));
  const [defs, marker] = tip();
  const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" }, draw("title", {}, title), defs);
  const short = text => text.length > 34 ? text.slice(0, 31) + "..." : text;
  const arrows = [];
  function row(x, y, columnWidth, label, cell) {
    picture.append(draw("text", { x: x + 6, y: y + 14, style: "font-family:ui-monospace,Menlo,Consolas,monospace" }, short(textOf(label, cell)), draw("title", {}, textOf(label, cell))));
    if (cell.box) arrows.push([x + columnWidth - 8, y + LINE / 2, cell.box]);
  }
  roots.forEach(([label, cell], n) => {
    const y = 8 + n * (LINE + 6);
    picture.append(draw("rect", { x: 4, y, width: columns[0].width, height: LINE, rx: 10, fill: "var(--panel)", stroke: "var(--line)" }));
    row(4, y, columns[0].width, label, cell);
  });
  for (const [name, box] of boxes) {
    const at = place.get(name);
    if (!at) continue;
    picture.append(draw("rect", { x: at.x, y: at.y, width: at.width, height: (box.rows.length + 1) * LINE + 4, rx: 3, fill: "var(--bg)", stroke: "currentColor" }),
      draw("rect", { x: at.x, y: at.y, width: at.width, height: LINE, fill: "var(--here)" }),
      draw("text", { x: at.x + 6, y: at.y + 14, style: "font-weight:600" }, box.title));
    box.rows.forEach(([label, cell], n) => row(at.x, at.y + (n + 1) * LINE, at.width, label, cell));
  }
  for (const [x, y, name] of arrows) {
    const to = place.get(name), back = to.x < x;
    const end = back ? to.x + to.width : to.x;
    picture.append(draw("circle", { cx: x, cy: y, r: 3, fill: "currentColor" }), draw("path", { d: `M${x} ${y} C${x + 40} ${y}, ${end + (back ? 30 : -30)} ${to.y + 10}, ${end} ${to.y + 10}`,
      fill: "none", stroke: "var(--link)", color: "var(--link)", "stroke-width": 1.5, "marker-end": marker }));
  }
  return make("section", { class: "heap" }, make("h3", {}, title), make("div", { class: "box", tabindex: 0 }, picture));
}
