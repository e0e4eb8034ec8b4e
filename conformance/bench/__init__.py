"""How fast: the suite itself, and collectives beside other implementations.

What is right is judged elsewhere; nothing of a certificate depends on a time.
"""
