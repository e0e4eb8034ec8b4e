"""From a failing case to the smallest that fails in the same way.

Here: confirmation, the search, and its budget.
Not here: what is tried (``runner.reductions``).
"""
