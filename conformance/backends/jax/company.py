"""Programs and graphs in company under JAX: one ``jit`` of independent functions, one compilation.

A member that JAX refuses while it is traced or lowered has its refusal as its observation, and is left out of what is
compiled. What the compiler refuses is the company's: whoever asked finds out whose fault it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from conformance.backends.attribution import adapter, framework
from conformance.backends.exceptions import rank_error
from conformance.cases.observation import RankError

Member = Callable[[Any], Any]
"""A function of one member's inputs, a pytree of arrays, that gives a pytree of arrays."""


def together(members: Sequence[Member], inputs: Sequence[Any], *, adapts: bool) -> list[Any]:
    """Return what each member gives, or the ``RankError`` of one that is refused before anything is compiled.

    Raise whatever JAX raises of the company.
    """
    refused: dict[int, RankError] = {}
    while len(refused) < len(members):
        known = dict(refused)
        left = [place for place in range(len(members)) if place not in known]
        try:
            company = _traced([members[place] for place in left], left, refused, adapts=adapts)
            given = [inputs[place] for place in left]
            with framework():
                lowered = company.lower(given)
        except Exception:
            if refused == known:
                errors = {place: _refusal(members[place], inputs[place], adapts=adapts) for place in left}
                refused.update({place: error for place, error in errors.items() if error is not None})
            if refused == known:
                raise
            continue
        if refused == known:
            with framework():
                lowered.compile()
                found = iter(company(given))  # which finds what was compiled
            return [refused[place] if place in refused else next(found) for place in range(len(members))]
    return [refused[place] for place in range(len(members))]


def _traced(members: Sequence[Member], places: Sequence[int], refused: dict[int, RankError], *, adapts: bool) -> Any:
    """Return the jitted function of all members; those that are refused as they are traced are added to ``refused``."""

    @adapter()
    def company(given: Sequence[Any]) -> list[Any]:
        found = []
        for place, member, one in zip(places, members, given, strict=True):
            try:
                found.append(member(one))
            except Exception as error:  # noqa: BLE001 - whatever a member raises is its refusal
                refused[place] = rank_error(error, adapts=adapts)
        return found

    with framework():
        return jax.jit(company)


def _refusal(member: Member, given: Any, *, adapts: bool) -> RankError | None:
    """Return how JAX refuses to lower a member by itself, if it does."""
    try:
        with framework():
            jax.jit(member).lower(given)
    except Exception as error:  # noqa: BLE001 - whatever it raises is its refusal
        return rank_error(error, adapts=adapts)
    return None
