"""Why a case came out otherwise, found by experiment: what no experiment settles is unexplained, and says so.

Here: facts of two runs, replays, versions, and the cause that they show.
Not here: environments for versions (``history.versions``).
"""
