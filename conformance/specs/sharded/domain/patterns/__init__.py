"""Patterns of programs on sharded tensors, by what they are about, and the case that lists them."""
