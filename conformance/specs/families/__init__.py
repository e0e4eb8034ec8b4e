"""Clauses that several operations share.

The clauses of one operation alone stand in its file of ``specs.operations``.
"""
