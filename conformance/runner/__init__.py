"""Explores, replays, and drives workers: budgets, deadlines, crashes, resume."""
