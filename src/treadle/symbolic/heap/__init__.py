"""The heap of a path: objects, references not yet known, and how they may alias."""
