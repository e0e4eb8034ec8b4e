"""Schedules executed with NumPy, and the facts that clauses on schedules ask for."""
