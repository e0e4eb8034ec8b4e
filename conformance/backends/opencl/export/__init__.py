"""The schedule in the neutral form, with bodies.

Here: items, accesses and bodies of what the engine does, events, and variables as expressions.
Not here: the form itself (``cases.schedule``), and how the engine orders (``schedule``).
"""
