"""The types of inputs: from hints, from fields, from use."""
