"""Values that constants alone make, of which a pad may make zeros too: no kernel need compute what is known before.

One such value has few different elements. Where each is, is worked out where somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Final

import numpy as np

from conformance.backends.opencl.graph.constant_folding import converted, folded
from conformance.backends.opencl.graph.index_map import elements
from conformance.backends.opencl.graph.value import GraphValue
from conformance.cases.tensor.dtypes import NUMPY, Array

FEW: Final = 16
"""Different elements that a value may have."""

LARGEST: Final = 1 << 20
"""Elements of a value that may be made beside the devices: so many take 13 ms, 2^14 take 0.1 ms, and a kernel makes so
many in 0.7 ms once it is built (Intel's runtime on two cores)."""

Elements = Mapping[GraphValue, Sequence[bytes]]


def constants_among(values: Iterable[GraphValue]) -> Elements:
    """Return the values that constants alone make, with the bits of their elements; sources come before users."""
    known: dict[GraphValue, Sequence[bytes]] = {}
    for value in values:
        if value.op == "const":
            known[value] = (value.arg,)
        elif value.size <= LARGEST and value.of and all(each in known for each in value.of):
            made = _made(value, [known[each] for each in value.of])
            if made is not None and len(made) <= FEW:
                known[value] = made
    return known


def _made(value: GraphValue, of: Sequence[Sequence[bytes]]) -> Sequence[bytes] | None:
    """Return the elements that a value may have, each once; ``None`` where a kernel has to say what one is."""
    if value.op == "move":
        return tuple(dict.fromkeys((*of[0], _zero(value))))
    if value.op not in ("alu", "cast", "bitcast"):
        return None
    found = [_element(value, term) for term in product(*of)]
    return None if None in found else tuple(dict.fromkeys(each for each in found if each is not None))


def _zero(value: GraphValue) -> bytes:
    return bytes(NUMPY[value.dtype].itemsize)


def _element(value: GraphValue, term: Sequence[bytes]) -> bytes | None:
    """Return what an operation, or a conversion, makes of one element of each operand."""
    if value.op == "bitcast":
        return term[0]
    of = [GraphValue("const", each.dtype, (), 0, (), bits, 0) for each, bits in zip(value.of, term, strict=True)]
    return converted(of[0], value.dtype) if value.op == "cast" else folded(str(value.arg), of, value.dtype)


def constant_array(value: GraphValue, values: Iterable[GraphValue]) -> Array:
    """Return what a value is worth that constants alone make, given all ``values`` it is made of, sources first."""
    held: dict[GraphValue, tuple[Sequence[bytes], Array]] = {}
    for each in values:
        if each.op == "const":
            held[each] = (each.arg,), np.broadcast_to(np.intp(0), each.shape)
            continue
        terms, places = zip(*(held[one] for one in each.of), strict=True)
        if each.op == "move":
            at, inside = elements((each.arg,))
            taken = places[0].reshape(-1)[np.where(inside, at, 0)]
            held[each] = (*terms[0], _zero(each)), np.where(inside, taken, len(terms[0]))
            continue
        number = np.zeros(each.shape, np.intp)
        for bits, place in zip(terms, places, strict=True):
            number = number * len(bits) + place
        made = [_element(each, term) for term in product(*terms)]
        held[each] = _distinct([bits or b"" for bits in made], number)
    bits, at = held[value]
    return np.frombuffer(b"".join(bits), NUMPY[value.dtype])[at]


def _distinct(bits: Sequence[bytes], at: Array) -> tuple[Sequence[bytes], Array]:
    """Return each of some elements once, and their numbers among these."""
    once = {each: number for number, each in enumerate(dict.fromkeys(bits))}
    return tuple(once), np.array([once[each] for each in bits], np.intp)[at]
