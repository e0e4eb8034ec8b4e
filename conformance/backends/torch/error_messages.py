"""What exceptions of Torch say that was wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from conformance.backends.exceptions import RaisedElsewhere, rank_error
from conformance.cases.observation import RankError


def described(error: Exception) -> RankError:
    """Return an exception as data. ``TORCH_CHECK`` raises ``RuntimeError`` for whatever a user did wrong.

    What is wrong inside says so: an internal assertion, or a check of Gloo's, whose messages begin with their place.
    """
    told = rank_error(error, adapts=True)
    inside = told.message.startswith("[") or "INTERNAL ASSERT" in told.message
    # The dispatcher has no other word for an empty list of tensors, and names it.
    empty = type(error) is NotImplementedError and told.message.startswith("There were no tensor arguments")
    if empty or (type(error) is RuntimeError and told.category == "internal" and not inside):
        return msgspec.structs.replace(told, category="invalid_argument")
    return told


@contextmanager
def complaining() -> Iterator[None]:
    """Tell of a ``RuntimeError`` what it says that was wrong."""
    try:
        yield
    except RuntimeError as error:
        if type(error) is RuntimeError:
            raise RaisedElsewhere(described(error)) from error
        raise
