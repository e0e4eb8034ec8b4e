"""Mutants of changed source: the changes, the modules they are made in, and the cases that reach them."""
