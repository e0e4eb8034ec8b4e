"""What is wrong with a deck."""

from __future__ import annotations


class DeckError(ValueError):
    """A deck, or a case in it, that says something else than it should; the message says which, and what to do."""


class NothingLeftError(DeckError):
    """An order was asked for claims, suites and operations that leave no case of the deck."""


AGAIN = "make it again with python -m conformance.qualification.deck"
"""What to do where the specification has gone on."""
