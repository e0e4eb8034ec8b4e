"""Whole tables of neighbours, dealt over a run: movement, numbers, pairs of steps, and storage in time."""
