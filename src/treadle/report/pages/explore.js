// A test under every schedule: what fails, or what the pass rests on.
SHOW.explore = part => {
  const lists = Object.entries(part.evidence).map(([title, items]) => listOf(title, items)).filter(Boolean);
  if (!part.findings.length) return [make("div", { class: "cards" }, ...lists)];
  return [...part.findings.map(found => findingView(found)), lists.length ? make("details", {}, make("summary", {}, "what the search did"), make("div", { class: "cards" }, ...lists)) : null];
};
