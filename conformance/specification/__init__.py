"""The specification as a document: written from the clauses, the reference functions and the worked examples.

The sentences themselves stand in ``specs``; nothing is said here that is not read from there.
"""
