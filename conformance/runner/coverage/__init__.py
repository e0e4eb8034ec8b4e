"""What a run was able to see.

Here: pairs, triples and trigrams that met, and which cannot.
Not here: what a deck is able to see (``vectors.power``).
"""
