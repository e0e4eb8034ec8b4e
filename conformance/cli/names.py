"""Names that a person typed: the nearest known one is offered when there is none such."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Final

import click

LONGEST: Final = 720 * 3600.0
"""Seconds of the longest time that may be given: thirty days."""


MOST_NAMES: Final = 50
"""As many names fit on a line that is read."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence on a name that is not among ``known``, with the nearest one and, if few are, all of them."""
    known = list(known)
    listed = f" (known: {', '.join(known)})" if len(known) <= MOST_NAMES else f" ({len(known)} are known)"
    return unlike(what, name, known) + listed


def unlike(what: str, name: str, known: Iterable[str]) -> str:
    """Return the words on a name that is not among ``known``, with the nearest one that is, if one is near.

    Names with a dot are near where what stands before the dot is: ``scan.C1`` is no slip for ``nosuch.C1``.
    """
    known = list(known)
    if "." in name:
        stem = get_close_matches(name.partition(".")[0], {each.partition(".")[0] for each in known}, n=1)
        known = [each for each in known if [each.partition(".")[0]] == stem]
    near = get_close_matches(name, known, n=1)
    return f"unknown {what} {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def checked(what: str, names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return ``names`` without repeats; raise ``UsageError`` for the first that is not among ``known``."""
    known = list(known)
    names = tuple(dict.fromkeys(names))
    for name in names:
        if name not in known:
            raise click.UsageError(unknown(what, name, known))
    return names


class Names(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 only
    """One or more names, separated by commas."""

    name = "NAME[,NAME]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names; fail when there is none."""
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in str(value).split(","))
        if not any(names):
            self.fail("names nothing", param, ctx)
        if not all(names):
            self.fail(f"{value!r} has an empty name; write names with one comma between them", param, ctx)
        return names


def names_option(*words: str, default: tuple[str, ...] = (), **more: Any) -> Callable[[Any], Any]:
    """Return the option that takes names; given several times, it takes all of them, without repeats."""

    def joined(_ctx: click.Context, _param: click.Parameter, value: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for names in value for name in names))

    return click.option(*words, type=Names(), multiple=True, callback=joined, default=default, **more)
