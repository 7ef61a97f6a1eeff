"""Calls of compiled code: modelled, stubbed, or really made."""
