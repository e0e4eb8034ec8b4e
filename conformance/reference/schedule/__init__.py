"""Schedules executed with NumPy, and the facts that clauses on schedules ask for.

Which schedules are right is said in ``specs.schedules``.
"""
