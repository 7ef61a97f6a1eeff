"""The pytest plugin: tests marked for exploration are run under every schedule."""
