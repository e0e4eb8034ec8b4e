"""Standalone scripts: a failing case in a framework's own words, which imports nothing of this suite."""
