import re


class Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.compiled = None

    def ready(self) -> bool:
        if self.compiled is None:
            self.compiled = re.compile(self.pattern)
        return True
