"""Claims that the deck is to be enough for: those of published backends, and such as a vendor may begin with.

What shows most of all lies within few claims: of a deck that was chosen by what cases show alone 38 of 900 cases of
collectives lay within the claims of MPI, and 20 of 2,000 within those of the README's backend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Final, NamedTuple

import msgspec

from conformance.backends.base import Claims
from conformance.backends.claim_limits import outside, plain_claims
from conformance.backends.reference import Reference
from conformance.qualification.deck.candidate import Candidate
from conformance.reference.operations import OPERATIONS

EVERYTHING: Final = ("reference", "opencl")
"""How the names of backends begin that claim all there is, or nearly."""

PLAIN_DTYPES: Final = ("float32", "int32")
"""What a backend of few dtypes has."""

PLAIN: Final[Mapping[str, Sequence[str]]] = {
    "calls": ["legal"],
    "dtype": PLAIN_DTYPES,
    "op": ["sum", "max"],
    "layout": ["contiguous"],
    "ranks": ["alike"],
    "operands": ["one"],
    "axes": ["one"],
    "local_axes": [],
    "world": ["1", "2", "3", "4"],
}
"""What the plainest backend of one collective claims of it: no effects, no faults, no call without a meaning."""

MINIMAL: Final[Claims] = {
    "all_reduce": {"op": ["sum", "max"], "dtype": ["int32", "float32"], "local_axes": []},
    "broadcast": {},
}
"""The claims of the README's backend."""

CORE_OPS: Final = (
    *("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all", "permute", "gather"),
    *("scatter", "barrier"),
)

CORE: Final[Mapping[str, Sequence[str]]] = {
    "dtype": ["float32", "float64", "int32", "int64", "bool"],
    "op": ["sum", "max", "min", "product"],
    "world": [str(size) for size in range(1, 9)],
}
"""What the profile ``core`` of a certificate demands of each of ``CORE_OPS``."""

FAMILIES_OF_DTYPES: Final[Mapping[str, Sequence[str]]] = {
    "integers": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    "floats": ["float16", "bfloat16", "float32", "float64"],
}

PLAIN_GRAPH: Final[Mapping[str, Sequence[str]]] = {
    "dtype": ["float32", "int32", "bool"],
    "devices": ["1"],
    "rounds": ["one"],
    "extents": ["numbers"],
    "size": ["small"],
    "target": ["none"],
}

PLAIN_SHARDED: Final[Mapping[str, Sequence[str]]] = {
    "dtype": ["float32", "int32", "bool"],
    "world": ["1", "2", "3", "4"],
    "homes": ["replicated", "even"],
    "moves": ["none", "replicated", "even"],
    "extents": ["numbers"],
    "rounds": ["one"],
    "target": ["none"],
}

PLAIN_TYPED: Final[Mapping[str, Sequence[str]]] = {
    "dtype": ["float32", "int32"],
    "starts": ["none"],
    "implied": ["none"],
    "world": ["1", "2", "3", "4"],
}


class SimpleClaims(NamedTuple):
    """Claims that a vendor may begin with; the ``plain`` are the fewest of one operation."""

    claims: Claims
    plain: bool = False


def simple_claims() -> Mapping[str, SimpleClaims]:
    """Return claims that a vendor may begin with, by name: one operation, one family of dtypes, one dialect."""
    return dict(_simple())


def _simple() -> Iterator[tuple[str, SimpleClaims]]:
    whole = Reference().claims
    yield "README", SimpleClaims(MINIMAL)
    yield "core", SimpleClaims(dict.fromkeys(CORE_OPS, CORE))
    for op in OPERATIONS:
        yield f"plain {op}", SimpleClaims({op: PLAIN}, plain=True)
        yield op, SimpleClaims({op: {}})
    for name, dtypes in FAMILIES_OF_DTYPES.items():
        yield name, SimpleClaims({op: {**whole[op], "dtype": dtypes} for op in OPERATIONS})
    plain = {"graph": PLAIN_GRAPH, "sharded": PLAIN_SHARDED}
    for op in whole:
        if op not in OPERATIONS:
            yield op, SimpleClaims({op: {}})
            yield f"plain {op}", SimpleClaims({op: plain.get(op, PLAIN_TYPED)}, plain=True)


def published_claims() -> Mapping[str, Claims]:
    """Return the claims of the backends that are installed and start here, by name, each once."""
    found: dict[bytes, tuple[str, Claims]] = {}
    for point in sorted(entry_points(group="conformance.backends"), key=lambda each: each.name):
        if point.name.startswith(EVERYTHING):
            continue
        try:
            claims = plain_claims(point.load()().claims)
        except Exception:  # noqa: BLE001, S112 - its framework is not here, or says that it does not run
            continue
        found.setdefault(msgspec.json.encode(claims, order="deterministic"), (point.name, claims))
    return dict(found.values())


def numbers_within(candidates: Sequence[Candidate], claims: Claims) -> list[int]:
    """Return the numbers of the candidates that lie within claims and ask something of an operation in them."""
    return [
        number
        for number, each in enumerate(candidates)
        if not claims.keys().isdisjoint(each.features)
        and outside(
            claims, {op: {name: frozenset(words) for name, words in of.items()} for op, of in each.features.items()}
        )
        is None
    ]


def within(candidates: Sequence[Candidate], claims: Claims) -> list[Candidate]:
    """Return the candidates that lie within claims."""
    return [candidates[number] for number in numbers_within(candidates, claims)]
