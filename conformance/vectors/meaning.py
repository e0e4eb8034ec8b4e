"""The digest of what a case means: it changes where the oracle, or the reading of a case, says something else.

A NaN has the bits of the machine that made it, and where several values are right the reference's is one of them: of
both it counts that they are there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from conformance.cases.graph.graph import Graph
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.keyed_values import KeyedSubject
from conformance.judging.subject import Subject
from conformance.reference.graph.carried import WIDER
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.vectors.stored import written


def meaning_digest(subject: object) -> str:
    """Return 16 hex digits of what a case means; of a schedule that is asked for, the subject is its graph.

    Raise ``TypeError`` for anything that is no case with its meaning.
    """
    total = hashlib.sha256()
    for part in _said(subject):
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()[:16]


def _said(subject: object) -> Iterator[bytes]:
    if isinstance(subject, Graph):
        yield written(subject)
    elif isinstance(subject, Subject):
        yield _clause(subject.rejected)
        yield from _blocks(subject.expected)
    elif isinstance(subject, KeyedSubject):
        yield _clause(subject.rejected)
        yield subject.undefined.encode()
        for name in sorted(subject.expected):
            yield name.encode()
            yield from _worth(subject.expected[name])
    elif isinstance(subject, TypedMeaning):
        yield _clause(subject.refused)
        yield b"" if subject.no_rule is None else b"no rule"
        yield from (f"{name}: {given}".encode() for name, given in sorted(subject.types.items()))
        for values in (subject.values, subject.back, subject.pushed):
            yield from _blocks(values)
    else:
        raise TypeError(f"{type(subject).__name__} is no case with its meaning")


def _clause(refused: Any) -> bytes:
    return b"" if refused is None else str(refused.clause).encode()


def _blocks(values: Mapping[str, Sequence[Array | None]]) -> Iterator[bytes]:
    for name in sorted(values):
        yield name.encode()
        for block in values[name]:
            yield b"none" if block is None else _bits(np.asarray(block))


def _worth(meant: BoundedValue) -> Iterator[bytes]:
    # What 16 bits rounded is free by a declaration alone.
    free = np.broadcast_to((meant.slack.mask & np.uint16(~WIDER & 0xFFFF)) != 0, meant.array.shape)
    array = np.array(meant.array)  # a value without axes may be a scalar
    array[free] = 0
    yield free.tobytes()
    yield _bits(array)


def _bits(block: Array) -> bytes:
    """Return dtype, shape and bits, of every NaN the same ones."""
    head = f"{logical(block.dtype)} {block.shape}".encode()
    if kind(logical(block.dtype)) in ("float", "complex"):
        with np.errstate(all="ignore"):  # a signalling NaN is an invalid value to ask about
            nan = np.isnan(block)
        head += nan.tobytes()
        block = np.where(nan, np.zeros((), block.dtype), block)
    return head + np.ascontiguousarray(block).tobytes()
