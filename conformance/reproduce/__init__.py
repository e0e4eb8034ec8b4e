"""Standalone scripts: a failing case in a framework's own words, which imports nothing of this suite.

The case is made small before, in ``runner.shrinking``; a script computes nothing that it does not show.
"""
