"""Schedules against the graph that was asked for."""
