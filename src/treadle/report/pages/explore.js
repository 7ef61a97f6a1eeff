// A test under every schedule: what fails, or what the pass rests on.
SHOW.explore = part => [...part.findings.map(findingView), ...Object.entries(part.evidence).map(([title, items]) => listOf(title, items))];
