"""Typed programs on the engine: types by rules of its own; values, transposes and mapping as graphs that it runs."""
