"""Schedules against the graph that was asked for.

The clauses that ask here stand in ``specs.schedules``.
"""
