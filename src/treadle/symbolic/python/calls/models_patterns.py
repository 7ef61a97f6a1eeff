"""`re.Match` as Python for the machine to follow: a match with a text that is unknown.

What `re` itself would say is asked of `unknown_group`, `unknown_start` and `not_followed`, which get their meaning in
`values.patterns`; they are never called otherwise.
"""

# mypy: ignore-errors


def unknown_group(match, group):
    raise NotImplementedError


def unknown_start(match, group):
    raise NotImplementedError


def not_followed(match, what):
    raise NotImplementedError


class PatternMatch:
    pos = 0

    def __init__(self, pattern, string, how):
        self.re = pattern
        self.string = string
        self.how = how

    def group(self, *groups):
        if not groups:
            return unknown_group(self, 0)
        if len(groups) == 1:
            return unknown_group(self, groups[0])
        return tuple([unknown_group(self, group) for group in groups])

    def __getitem__(self, group):
        return unknown_group(self, group)

    def groups(self, default=None):
        found = []
        for number in range(self.re.groups):
            text = unknown_group(self, number + 1)
            found.append(default if text is None else text)
        return tuple(found)

    def groupdict(self, default=None):
        found = {}
        for name in self.re.groupindex:
            text = unknown_group(self, name)
            found[name] = default if text is None else text
        return found

    def start(self, group=0):
        return unknown_start(self, group)

    def end(self, group=0):
        text = unknown_group(self, group)
        return -1 if text is None else unknown_start(self, group) + len(text)

    def span(self, group=0):
        text = unknown_group(self, group)
        if text is None:
            return (-1, -1)
        start = unknown_start(self, group)
        return (start, start + len(text))

    @property
    def endpos(self):
        return len(self.string)

    @property
    def lastindex(self):
        return not_followed(self, "lastindex")

    @property
    def lastgroup(self):
        return not_followed(self, "lastgroup")

    @property
    def regs(self):
        return not_followed(self, "regs")

    def expand(self, template):
        return not_followed(self, "expand")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self
