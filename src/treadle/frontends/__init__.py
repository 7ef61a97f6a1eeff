"""From source text to the IR of treadle.symbolic."""
