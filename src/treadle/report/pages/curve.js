// How something grew: one line per name, points are [x, y].
function curveView(curves, label) {
  const names = Object.keys(curves).filter(name => curves[name].length && curves[name].some(([, y]) => y));
  if (!names.length) return null;
  const W = 620, H = 220, L = 44, B = 26, R = 12, T = 10, colours = [0, 1, 2, 3].map(n => `var(--strand${n})`);
  const all = names.flatMap(name => curves[name]);
  const right = Math.max(1, ...all.map(([x]) => x)), top = Math.max(1, ...all.map(([, y]) => y));
  const x = value => L + (W - L - R) * value / right, y = value => H - B - (H - B - T) * value / top;
  const picture = draw("svg", { viewBox: `0 0 ${W} ${H}`, width: W, style: "max-width:100%;height:auto", role: "img" }, draw("title", {}, label),
    ...[T, (T + H - B) / 2].map(at => draw("path", { d: `M${L} ${at} H${W - R}`, stroke: "var(--line)" })),
    draw("path", { d: `M${L} ${T} V${H - B} H${W - R}`, stroke: "var(--soft)", fill: "none" }),
    draw("text", { x: L - 6, y: T + 8, "text-anchor": "end" }, String(top)), draw("text", { x: L - 6, y: H - B, "text-anchor": "end" }, "0"),
    draw("text", { x: W - R, y: H - 8, "text-anchor": "end" }, `${right} ${label}`));
  names.forEach((name, n) => {
    const points = curves[name].map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
    picture.append(curves[name].length > 1 ? draw("polyline", { points, fill: "none", stroke: colours[n % 4], "stroke-width": 2 })
      : draw("circle", { cx: x(curves[name][0][0]), cy: y(curves[name][0][1]), r: 3, fill: colours[n % 4] }));
  });
  const legend = names.map((name, n) => make("span", {}, make("b", { style: `color:${colours[n % 4]}` }, "— "), `${name}: ${curves[name][curves[name].length - 1][1]}`));
  return make("section", { class: "curves" }, make("div", { class: "box" }, picture), make("div", { class: "bar" }, ...legend));
}
