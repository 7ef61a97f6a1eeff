class Counter:
    def __init__(self):
        self.n = 0

    def add(self):
        self.n = self.n + 1


class Still:
    def __init__(self):
        self.n = 0

    def look(self):
        return self.n
