// A tree that folds. A node is { label, mark, why, ends, below }; what is deep opens when it is asked for. An end that
// names a case or an execution shows it.
function treeView(root, pick = null, depth = 4) {
  const box = make("div", { class: "tree box tall", tabindex: 0 });
  const open = button("unfold all", () => box.querySelectorAll("details").forEach(node => { node.open = true; node.dispatchEvent(new Event("toggle")); }));
  const fold = button("fold all", () => box.querySelectorAll("details").forEach(node => { node.open = false; }));
  box.append(...children(root, depth, pick));
  return make("div", {}, make("div", { class: "bar tree-bar" }, open, fold), box);
}

function children(node, depth, pick) {
  const ends = (node.ends || []).map(text => leaf(text, pick, { class: "leaf " + (/\b(cut|unsupported|pruned|internal error|too hard)\b/.test(text) ? "warn" : /^(deadlock|fails)\b/.test(text) ? "bad" : "good") }));
  return [...ends, ...(node.below || []).map(below => branch(below, depth - 1, pick))];
}

function leaf(text, pick, look) {
  const number = pick && text.match(/\b(?:case|execution) (\d+)/);
  return make("div", look, "⇒ ", number ? make("a", { href: "#", on: { click: event => { event.preventDefault(); pick(number[1] - 1, true); } } }, text) : text);
}

function branch(node, depth, pick) {
  const label = [node.why ? make("i", { class: "soft" }, node.why + " ") : null, node.label, node.mark ? make("span", { class: node.colour || "soft" }, "  " + node.mark) : null].filter(Boolean);
  if (!(node.below || []).length && !(node.ends || []).length) return make("div", { class: "leaf mono" }, ...label);
  const place = make("details", { class: "node" }, make("summary", { class: "mono" }, ...label));
  let filled = false;
  const fill = () => { if (!filled && place.open) { filled = true; place.append(...children(node, depth, pick)); } };
  place.addEventListener("toggle", fill);
  if (depth > 0) { place.open = true; fill(); }
  return place;
}
