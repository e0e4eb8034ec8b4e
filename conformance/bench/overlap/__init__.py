"""How well communication hides behind computation: steps of training, beside others and beside what they cost apart.

Here: the steps, one program for each library that runs them, the rounds that time them, and the timeline.
Not here: collectives alone (``bench.collectives``).
"""
