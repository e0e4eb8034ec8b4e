"""Programs in loops of fixed count: what a rank does is the body, and one of the rounds is the program that is meant.

The rounds work on slices of a longer input, of which one is what the case has. So the value is the program's whatever
the compiler moves out of the loop, before it, or into another round. There are forms, as users write them:

- ``stacked``: each round takes its slice and writes its results into theirs, as ``scan`` does;
- ``carried``: what a round gives is carried on, and the round that is meant puts its results there;
- ``summed``: the results of all rounds are added up, where sums of integers tell that the other rounds are zero.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax.numpy as jnp
import msgspec
import numpy as np
from jax import lax

from conformance.backends.attribution import framework
from conformance.cases.program.program import Program
from conformance.cases.tensor.dtypes import Array

ROUNDS: Final = 4
"""How often a loop goes round: XLA writes shorter ones out (libtpu 0.0.42.1, seen of two)."""

MEANT: Final = 2
"""The round whose results are the program's; neither the first nor the last, which are written out when collectives
are moved between rounds."""

FORMS: Final = ("stacked", "carried", "summed")

_LINEAR: Final = ("all_reduce", "all_gather", "all_to_all", "reduce_scatter", "permute", "shuffle")

Rank = Callable[..., dict[str, Any]]


def form_of(program: Program, inputs: Mapping[str, list[Array]]) -> str:
    """Return the form of the loop for a program: each form takes its turn, where it can be taken."""
    turn = zlib.crc32(msgspec.json.encode(program)) % len(FORMS)
    integers = all(views[0].dtype.kind in "iu" for views in inputs.values())
    sums = all(step.op in _LINEAR and step.attrs.get("op", "sum") == "sum" for step in program.steps)
    return FORMS[turn] if FORMS[turn] != "summed" or (integers and sums and program.steps) else "stacked"


def slices(form: str, view: Array, *, alike: bool) -> Array:
    """Return what all rounds are given of a block: itself in one, and others in the rest, or zeros, or the same."""
    if form == "summed":
        rest = np.zeros_like(view)
    else:
        rest = view if alike else np.ascontiguousarray(view.reshape(-1)[::-1]).reshape(view.shape)
    return np.stack([view if number == MEANT else rest for number in range(ROUNDS)])


def looped(form: str, rank: Rank) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function of the slices of all rounds, that does what ``rank`` does with each, and gives one round's."""

    def body(blocks: dict[str, Any]) -> dict[str, Any]:
        return rank({}, {}, blocks)

    def stacked(given: dict[str, Any]) -> dict[str, Any]:
        with framework():
            _, found = lax.scan(lambda none, blocks: (none, body(blocks)), None, given, length=ROUNDS)
            return {name: each[MEANT] for name, each in found.items()}

    def over_rounds(given: dict[str, Any], add: Callable[[Any, Any, Any], Any]) -> dict[str, Any]:
        def once(number: Any, held: dict[str, Any]) -> dict[str, Any]:
            made = body({name: lax.dynamic_index_in_dim(each, number, keepdims=False) for name, each in given.items()})
            return {name: add(number, held[name], made[name]) for name in held}

        with framework():
            first = body({name: each[0] for name, each in given.items()})
            empty = {name: jnp.zeros(each.shape, each.dtype) for name, each in first.items()}
            found: dict[str, Any] = lax.fori_loop(0, ROUNDS, once, empty)
        return found

    def carried(given: dict[str, Any]) -> dict[str, Any]:
        return over_rounds(given, lambda number, held, made: jnp.where(number == MEANT, made, held))

    def summed(given: dict[str, Any]) -> dict[str, Any]:
        return over_rounds(given, lambda _, held, made: held + made)

    return {"stacked": stacked, "carried": carried, "summed": summed}[form]
