"""Runs in parts: units of draws that depend on nothing else, slices of them, and the run that slices make together.

Here: units, checks of each slice, and how they are joined.
Not here: processes for slices (``cli``).
"""
