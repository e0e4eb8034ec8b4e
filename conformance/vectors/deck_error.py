"""What is wrong with a deck."""

from __future__ import annotations


class DeckError(ValueError):
    """A deck, or a case in it, that says something else than it should; the message says which, and what to do."""


AGAIN = "make it again with python -m conformance.qualification.deck"
"""What to do where the specification has gone on."""
