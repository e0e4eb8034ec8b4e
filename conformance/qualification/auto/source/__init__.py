"""Mutants of changed source: the changes, the modules they are made in, and the cases that reach them.

Here: operators, families of modules, shadows of them, and the lines that cases reach.
Not here: running them (``auto.running``).
"""
