"""Whose an exception is, where a backend adapts a framework: the framework's, or that of the adapter's own lines.

A backend that adapts a framework says so (``Backend.adapts``). It makes its calls into the framework under
``framework``, and functions of its own that the framework calls back run under ``adapter``. The first of the two that
an exception passes out of decides; what passes out of none is the adapter's, and so is a variable that does not exist.

    with framework():
        shards = acme.shard(x, devices)      # what this raises is a result of the framework
    return [np.asarray(shard) for shard in shards]   # what this raises is an adapter_error
"""

from __future__ import annotations

import contextlib
from contextlib import ContextDecorator
from traceback import walk_tb
from types import TracebackType
from typing import Final, Literal

Whose = Literal["framework", "adapter"]

_MARK: Final = "__conformance_whose__"


class _Marks(ContextDecorator):
    """A context, or a decorator, that says of every exception that leaves it whose it is, unless that is said."""

    def __init__(self, whose: Whose) -> None:
        self._whose: Whose = whose

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, Exception):
            found = whose(error) or ("adapter" if _misspelt(error, at) else self._whose)
            error.__dict__.setdefault(_MARK, found)


def _misspelt(error: Exception, at: TracebackType | None) -> bool:
    """Return whether a variable that does not exist was named in the file of the ``with`` itself."""
    if at is None or not isinstance(error, NameError) or error.name is None:
        return False
    frames = [frame.f_code.co_filename for frame, _ in walk_tb(at)]
    first = next((file for file in frames if file != contextlib.__file__), None)  # a decorator is called from there
    return first == frames[-1]


def framework() -> _Marks:
    """Return the context in which the framework is called."""
    return _Marks("framework")


def adapter() -> _Marks:
    """Return the context in which lines of the adapter run that the framework calls back."""
    return _Marks("adapter")


def whose(error: BaseException) -> Whose | None:
    """Return whose ``error`` was marked to be; ``None`` for one without a mark.

    One that a framework made of an exception of the adapter's, by ``raise … from`` or while handling it, is the
    adapter's.
    """
    if (marked := error.__dict__.get(_MARK)) is not None:
        found: Whose = marked
        return found
    before, seen = error.__cause__ or error.__context__, {id(error)}
    while before is not None and id(before) not in seen:
        if before.__dict__.get(_MARK) == "adapter":
            return "adapter"
        seen.add(id(before))
        before = before.__cause__ or before.__context__
    return None
