"""The deck: frozen cases with digests of their meanings, what each shows, and the best order for any claims.

How the deck is made is in ``qualification.deck``; as files for other languages it is written by ``vector_files``.
"""
