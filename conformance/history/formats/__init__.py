"""A comparison of two runs as people and programs read it."""
