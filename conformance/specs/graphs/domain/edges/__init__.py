"""Patterns at the edges where elements of a dtype break an identity, and the cases that list them."""
