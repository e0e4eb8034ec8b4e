"""How the deck is made: candidates, what each of them shows and kills, the choice, and what it is worth.

Here: demands, campaigns, the greedy choice, top-ups, curves and freezing.
Not here: the deck itself, and its best order for any claims (``vectors``).
"""
