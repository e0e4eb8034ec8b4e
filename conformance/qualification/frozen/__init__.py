"""Answers that were given once, right and wrong ones, and what changed code of the judge says of them.

Here: observations, altered ones, and the verdicts of a changed judge.
Not here: the judge (``judging``).
"""
