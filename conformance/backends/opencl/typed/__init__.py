"""Typed programs on the engine: types by rules of its own; values, transposes and mapping as graphs that it runs.

Here: states, starts, backward and forward passes, and mapping over levels.
Not here: graphs and their evaluation (``graph``, ``runtime``).
"""
