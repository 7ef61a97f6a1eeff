// One part fills the page; of several, an index is searched and one is shown at a time.
const headPlace = document.getElementById("head"), mainPlace = document.getElementById("main");

function fill(part) {
  begin.length = 0;
  mainPlace.replaceChildren(...SHOW[part.kind](part).filter(Boolean));
  begin.forEach(start => start());
}

if (!data.parts.length) {
  headPlace.append(make("h1", {}, "Nothing was explored"));
} else if (data.parts.length === 1) {
  headPlace.append(...head(data.parts[0]));
  fill(data.parts[0]);
} else {
  const place = make("div", { id: "one" });
  const index = chooser(
    data.parts.map(part => [make("span", { class: "verdict " + part.colour }, part.verdict), make("span", { class: "mono" }, part.target)])
      .map(texts => make("span", {}, ...texts)),
    data.parts.map(part => `${part.verdict} ${part.target} ${part.sentence}`),
    number => { place.replaceChildren(...head(data.parts[number])); fill(data.parts[number]); history.replaceState(null, "", "#" + (number + 1)); },
    "parts");
  headPlace.append(make("h1", {}, data.title || `${data.parts.length} results`), ...[index.tools].filter(Boolean),
    make("div", { class: "box half" }, index.list), place);
  const worst = data.parts.findIndex(part => part.colour === "bad");
  index.pick(Number(location.hash.slice(1)) - 1 >= 0 ? Number(location.hash.slice(1)) - 1 : Math.max(0, worst));
}
const first = data.parts[0];
document.title = (data.title || (first ? `${first.verdict} ${first.target}` : "")) + " - Treadle";
