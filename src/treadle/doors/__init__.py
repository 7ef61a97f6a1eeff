"""The doors: each only composes the rooms below it: options, composition, its result, what it writes."""
