"""Which version of which package makes a case come out otherwise: a case run in environments of its own.

Here: ranges, environments, replays in them, and bisection.
Not here: why a version matters (``history.causes``).
"""
