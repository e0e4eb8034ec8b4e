"""Clauses that several operations share."""
