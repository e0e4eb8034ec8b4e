"""What backends raise, and how an exception is told: as data, with whose fault it says it is."""

from __future__ import annotations

import traceback
from pathlib import Path

from conformance.backends.attribution import whose
from conformance.cases.observation import Category, RankError


class Unsupported(NotImplementedError):
    """The implementation has no such operation, dtype or option, and says so."""


class Refused(ValueError):
    """A program without a meaning that no implementation is asked about: every member of a group is alone in it."""


class RaisedElsewhere(Exception):
    """Stands for an exception that is told as ``said``: of a rank in a process of its own, or classed by an adapter."""

    def __init__(self, said: RankError) -> None:
        """Take the error to tell."""
        super().__init__(said.message)
        self.said = said


def rank_error(error: BaseException, *, adapts: bool = False) -> RankError:
    """Return an exception as data, classed by its Python type and, where a framework is adapted, by whose it is."""
    if isinstance(error, RaisedElsewhere):
        return error.said
    try:
        message = str(error)[:2000]
    except Exception:  # noqa: BLE001 - an exception's text is the vendor's code too
        message = f"{type(error).__name__}, whose text cannot be made"
    category = category_of(error, adapts=adapts)
    place = _place(error) if category == "adapter" else ""
    return RankError(kind=type(error).__name__, message=f"{message}{place}", category=category)


def _place(error: BaseException) -> str:
    """Return the file and the line that raised, of the adapter's: whoever mends it looks there."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def category_of(error: BaseException, *, adapts: bool = False) -> Category:
    """Return whose fault an exception says it is, by its type alone.

    Of a backend that ``adapts`` a framework it is the ``adapter``'s unless the framework raised it
    (``conformance.backends.attribution``), or it says on purpose that there is no such thing or that a program means
    nothing.
    """
    if adapts and not isinstance(error, Unsupported | Refused) and whose(error) != "framework":
        return "adapter"
    if isinstance(error, NotImplementedError):
        return "unsupported"
    if isinstance(error, ValueError | TypeError | LookupError):
        return "invalid_argument"
    if type(error) is NameError and error.name is None:
        return "invalid_argument"  # raised over a name that was given; of a variable Python tells the name
    return "internal"
