// What every page has: elements, a line to copy, a list that is searched and walked with the keyboard, sources.
const data = JSON.parse(document.getElementById("data").textContent);
const SHOW = {};   // kind of a part -> how it is shown
const begin = [];  // what needs to be on the page before it can be drawn

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

let markers = 0;
function tip() {
  const id = "tip" + markers++;
  const marker = draw("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    draw("path", { d: "M0 0L8 4L0 8z", fill: "currentColor" }));
  return [draw("defs", {}, marker), `url(#${id})`];
}

function button(text, act, title) {
  return make("button", { type: "button", title: title || text, on: { click: act } }, text);
}

const count = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

// Scrolls a box, and nothing around it, so that a line of its table is in its middle.
function centre(box, row) {
  if (box && row) box.scrollTop = row.offsetTop - box.clientHeight / 2;
}

// Every strand has its colour on the whole page; the test itself has none.
function colourOf(name, strands) {
  const number = strands.filter(one => one !== "main").indexOf(name);
  return number < 0 ? "var(--soft)" : `var(--strand${number % 6})`;
}
const paintOf = (name, strands) => `--strand:${colourOf(name, strands)}`;
const chip = (name, strands) => make("b", { class: "chip", style: paintOf(name, strands) }, name);

// Scrolls a box, and nothing around it, if a part of it is out of sight.
function reveal(box, part) {
  if (box && (part.offsetTop < box.scrollTop || part.offsetTop + part.offsetHeight > box.scrollTop + box.clientHeight)) centre(box, part);
}

// How every page tells how to see a failure again.
function again(found, steps) {
  if (!found.replay) return [];
  return [make("p", { class: "again" }, make("b", {}, "See it again"), make("span", { class: "soft" }, ": this runs the very schedule, from the folder where it was found" + (steps ? "; with --debug, it stops before each step" : ""))), copyLine(found.replay)];
}

function copyLine(command) {
  const text = make("code", { tabindex: 0, "aria-label": "command" }, command);
  const press = button("copy", async () => {
    try { await navigator.clipboard.writeText(command); }
    catch {
      const range = document.createRange();
      range.selectNodeContents(text);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    press.textContent = "copied";
  }, "copy the command");
  return make("div", { class: "copy" }, text, press);
}

function head(part) {
  return [make("h1", {}, make("span", { class: "verdict " + part.colour }, part.verdict), make("span", { class: "mono" }, part.target)),
    part.sentence ? make("p", { class: "soft" }, part.sentence) : null,
    part.advice ? make("p", { class: "advice" }, make("b", {}, "What helps: "), part.advice) : null].filter(Boolean);
}

function listOf(title, items) {
  if (!items || !items.length) return null;
  return make("section", {}, make("h2", {}, title), make("ul", { class: "notes" }, ...items.map(item => make("li", { class: "mono" }, item))));
}

// A list of which one is chosen: by click, by Up and Down; a search field above it where there are many.
function chooser(items, texts, choose, label) {
  let now = -1;
  const list = make("ul", { class: "list", role: "listbox", tabindex: 0, "aria-label": label });
  const rows = items.map((item, number) => make("li", { role: "option", "aria-selected": "false", on: { click: () => pick(number) } }, item));
  list.append(...rows);
  function pick(number, far) {  // from afar, the list itself comes into sight
    if (far) list.closest(".box").scrollIntoView({ block: "start" });
    if (number === now || !rows[number]) return;
    if (now >= 0) rows[now].setAttribute("aria-selected", "false");
    now = number;
    rows[now].setAttribute("aria-selected", "true");
    reveal(list.closest(".box"), rows[now]);
    choose(now);
  }
  function move(by) {
    let next = now;
    do next += by; while (rows[next] && rows[next].hidden);
    if (rows[next]) pick(next);
  }
  list.addEventListener("keydown", event => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) { move(by); event.preventDefault(); }
  });
  const said = make("span", { class: "soft", "aria-live": "polite" });
  const search = make("input", { type: "search", placeholder: "search", "aria-label": "search " + label, on: { input: () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    rows.forEach((row, number) => { row.hidden = !words.every(word => texts[number].toLowerCase().includes(word)); left += !row.hidden; });
    said.textContent = words.length ? `${left} of ${rows.length}` : "";
  } } });
  const tools = items.length > 5 ? make("div", { class: "bar" }, search, said) : null;
  return { tools, list, pick };
}

// Whoever has just opened the page steps at once: where nothing has the focus, the arrows go to the first schedule.
const walkers = [];
addEventListener("keydown", event => {
  const free = event.target === document.body && !event.ctrlKey && !event.altKey && !event.metaKey;
  if (free && ["ArrowLeft", "ArrowRight"].includes(event.key)) walkers.find(walk => walk(event) !== false);
});

// Buttons, a slider and keys that go from step to step; `told` says where one is.
function stepper(total, start, show, extra, below) {
  let now = start;
  const told = make("span", { class: "mono told", "aria-live": "polite" });
  const slider = make("input", { type: "range", min: 0, max: Math.max(0, total - 1), value: start, "aria-label": "step", on: { input: () => go(+slider.value) } });
  function go(n) {
    now = Math.max(0, Math.min(total - 1, n));
    slider.value = now;
    told.textContent = show(now);
  }
  function key(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (by) go(now + by);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(total - 1);
    else return;
    event.preventDefault();
  }
  walkers.push(event => bar.isConnected && key(event));
  const bar = make("div", { class: "stepper bar", on: { keydown: key } }, button("|◀", () => go(0), "first step (Home)"),
    button("◀", () => go(now - 1), "step back (left arrow)"), make("div", { class: "track" }, slider, below), button("▶", () => go(now + 1), "step on (right arrow)"),
    button("▶|", () => go(total - 1), "last step (End)"), ...(extra ? extra(go, () => now) : []), told);
  return { bar, go, key };
}

// Python and ABS in colours: comments, strings, words of the language, numbers. A string may go over several lines.
const TOKENS = /(#.*|\/\/.*)|((?:\b[rbfuRBFU]{1,2})?(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|(\b(?:and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|new|nonlocal|not|or|pass|raise|return|this|try|while|with|yield|None|True|False|self)\b)|(\b\d[\w.]*)/g;
const KINDS = ["comment", "string", "word", "number"];

function colouredLines(text) {
  const lines = [[]];
  const add = (piece, kind) => piece.split("\n").forEach((one, n) => {
    if (n) lines.push([]);
    if (one) lines[lines.length - 1].push(kind ? make("span", { class: kind }, one) : one);
  });
  let last = 0;
  for (const found of text.matchAll(TOKENS)) {
    add(text.slice(last, found.index));
    add(found[0], KINDS[found.slice(1).findIndex(group => group !== undefined)]);
    last = found.index + found[0].length;
  }
  add(text.slice(last));
  return lines;
}
const coloured = text => make("span", { class: "code" }, ...colouredLines(text).flat());

// Lines of a file: `look(line)` gives the classes of a row and the text of the columns before it.
const painted = new Map();  // file -> its lines in colours
function sourceTable(file, low, high, look, caption) {
  const lines = data.files[file];
  if (!lines) return null;
  if (!painted.has(file)) painted.set(file, colouredLines(lines.join("\n")));
  const table = make("table", {}, make("caption", {}, caption || data.names[file] || file));
  for (let line = Math.max(1, low); line <= Math.min(lines.length, high); line++) {
    const { row, before } = look(line);
    const text = painted.get(file)[line - 1].map(piece => piece.cloneNode ? piece.cloneNode(true) : piece);
    table.append(make("tr", { class: row, "data-line": line }, make("td", { class: "n" }, String(line)), ...before, make("td", { class: "code" }, ...text)));
  }
  return make("div", { class: "source box half", tabindex: 0 }, table);
}
