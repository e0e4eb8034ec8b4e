"""The commands: each is the module of its name.

Here: the options of each command, and the calls that it makes.
Not here: the work itself, and what several commands share (``cli``).
"""
