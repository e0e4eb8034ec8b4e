"""Explores, replays, and drives workers: budgets, deadlines, crashes, resume.

Here: plans, draws, offers, turns, budgets, and what a run has shown.
Not here: how a case is drawn (``generate``), and what is right (``judging``).
"""
