"""The explore door: a verdict over the interleavings of a test that already exists."""
