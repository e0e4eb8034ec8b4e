"""Clauses about sharded tensors, and what they say of an observation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from conformance.cases.declarations.number_model import STANDARD, NumberModel
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.ancestors import ancestors
from conformance.judging.graphs.values import beside_nan, beyond, off, same_bits
from conformance.judging.keyed_values import KeyedClause, WrongValue, WrongValues, parted
from conformance.judging.sharded.assembly import assembled
from conformance.judging.sharded.subject import ShardedSubject
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.graph.rounding import LOOSE


@dataclass(frozen=True)
class ShardedSeen:
    """An observation, and what is wrong in it.

    By key it has zeros of the other sign than what was moved, and maxima
    and minima of a NaN that are none.
    """

    observation: Observation
    wrongs: WrongValues = field(default_factory=WrongValues)
    signs: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ShardedDivergence:
    """What a source says where a clause says something else; who follows it is not held to the clause."""

    source: str
    text: str


@dataclass(frozen=True)
class ShardedClause(KeyedClause[ShardedSubject, ShardedSeen]):
    """A clause about sharded tensors. It speaks of an observation where that has anything of what it is ``told`` about.

    Where a legal case was refused only clauses ``of_errors`` speak. ``diverges`` lists what
    sources say otherwise.
    """

    suite: str = "sharding"
    of_errors: bool = False
    diverges: tuple[ShardedDivergence, ...] = ()
    told: Callable[[ShardedSubject, ShardedSeen], bool] = lambda _, found: True


def seen(subject: ShardedSubject, observation: Observation, numbers: NumberModel = STANDARD) -> ShardedSeen:
    """Return an observation with what is wrong in it, in the order in which nodes are listed."""
    found = ShardedSeen(observation)
    if not subject.legal or observation.raised:
        return found
    place = {node.id: at for at, node in enumerate(subject.case.of.graph.nodes)}
    wrongs: list[WrongValue] = []
    for key in sorted(subject.expected, key=lambda each: place.get(each.partition("/")[2], len(place))):
        wrong = _wrong(subject, found, key, numbers)
        wrongs += [] if wrong is None else [wrong]
    return replace(found, wrongs=parted(wrongs, lambda keys: ancestors(subject.case.of, keys)))


def _wrong(subject: ShardedSubject, found: ShardedSeen, key: str, numbers: NumberModel) -> WrongValue | None:
    meant, words = subject.expected[key], subject.traits[key]
    shape, dtype = meant.array.shape, logical(meant.array.dtype)
    layout = found.observation.layouts[key]
    made = assembled(shape, dtype, layout, found.observation.results[key], subject.case.mesh)
    if made.whole is None:
        return WrongValue(key, made.how, f"{key}: {made.problem}", words)
    whole = made.whole
    if same_bits(meant, whole):
        return None
    if "split" in words or "move" in words:
        whole, turned = _signed(meant, whole)
        if turned is not None:
            found.signs[key] = f"{key}: element {turned} is a zero of the other sign"
    given = from_array(whole)
    lost = beside_nan(meant, given, numbers)
    if lost is not None:
        found.lost[key] = f"{key}: {lost}"
    for how, check in (("bits", off), ("bound", beyond)):
        problem = check(meant, given, numbers)
        if problem is not None:
            return WrongValue(key, how, f"{key}: {problem}", words)
    return None


def _signed(meant: BoundedValue, whole: Array) -> tuple[Array, list[int] | None]:
    """Return a value with the signs of zeros that are right, and where the first one was not.

    A zero that was computed may have any.
    """
    kept = kept_zeros(meant)
    if not kept.any():
        return whole, None
    with np.errstate(all="ignore"):
        other = kept & (whole == 0) & (np.signbit(whole) != np.signbit(meant.array))
    if not other.any():
        return whole, None
    return np.where(other, meant.array, whole), [int(each) for each in np.argwhere(other)[0]]


def kept_zeros(meant: BoundedValue) -> NDArray[np.bool_]:
    """Return which elements of a value are zeros, of floats, that were not computed."""
    if kind(logical(meant.array.dtype)) != "float":
        return np.zeros(meant.array.shape, np.bool_)
    with np.errstate(all="ignore"):
        return np.asarray(((meant.slack.mask & np.uint16(LOOSE)) == 0) & (meant.array == 0))
