"""The dialect ``types``: programs whose values have a type for each mesh axis."""
