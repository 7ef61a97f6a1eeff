"""What cannot be followed is tried: real calls with picked values, each steered by what the calls before it met."""
