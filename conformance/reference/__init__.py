"""The oracle: pure NumPy, one function per operation, as close to the clause text as code gets.

It draws nothing, judges nothing, and knows no implementation.
"""
