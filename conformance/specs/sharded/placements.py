"""Where values are, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.cases.sharded.placement import Layout
from conformance.judging.sharded.clause import Seen, ShardedClause
from conformance.judging.sharded.subject import ShardedSubject


def _breaks(clause: str) -> Callable[[ShardedSubject], bool]:
    return lambda subject: subject.rejected is not None and subject.rejected.clause == clause


def _illegal(subject: ShardedSubject) -> bool:
    return not subject.legal


def _refused(subject: ShardedSubject, found: Seen) -> str | None:
    return None if found.observation.raised else f"values were given; {subject.rejected} has none"


def _as_argument(_: ShardedSubject, found: Seen) -> str | None:
    """Find a refusal that does not say that an argument was wrong."""
    for error in found.observation.errors:
        if error is not None and error.category not in ("invalid_argument", "unsupported"):
            return f"{error.kind} is no complaint about an argument: {error.message[:200]}"
    return None


def _together(_: ShardedSubject, found: Seen) -> str | None:
    raised = [device for device, error in enumerate(found.observation.errors) if error is not None]
    if not raised or len(raised) == len(found.observation.errors):
        return None
    return f"of {len(found.observation.errors)} devices only {raised} raised"


def _refusable(subject: ShardedSubject) -> bool:
    return bool(subject.refusable)


def _given(subject: ShardedSubject, found: Seen) -> str | None:
    return f"it was refused: {subject.refusable}" if found.observation.raised else None


REFUSED = (
    ShardedClause(
        "sharded.C6",
        "must",
        "Movement that leaves its source is refused: a range past an extent, an axis that is not there, a reshape to "
        "another number of elements, an expansion of an extent other than 1.",
        "tinygrad.multi; stablehlo.operations: slice, transpose, reshape, broadcast_in_dim, reverse, reduce",
        _breaks("sharded.C6"),
        _refused,
    ),
    ShardedClause(
        "sharded.C7",
        "must",
        "A placement that does not fit is refused before anything is moved: bounds that do not tile an axis, overlap "
        "or exceed it, more or fewer parts than positions, an axis that the tensor does not have, a mesh axis that "
        "is used twice, a mask without a real part, a device that is named twice.",
        "tinygrad.multi: from_sharded; torch.dtensor; jax.sharding",
        _breaks("sharded.C7"),
        _refused,
    ),
    ShardedClause(
        "sharded.C8",
        "must",
        "A tensor with an extent that is a variable is refused.",
        "tinygrad.multi: all_reduce",
        _breaks("sharded.C8"),
        _refused,
    ),
    ShardedClause(
        "sharded.C9",
        "should",
        "The error that refuses a program, or a step across parts, reports a wrong argument or something that is not "
        "supported.",
        "ours",
        lambda subject: _illegal(subject) or _refusable(subject),
        _as_argument,
    ),
    ShardedClause(
        "sharded.C10",
        "must",
        "A program that is refused is refused on every device.",
        "torch.distributed",
        lambda _: True,
        _together,
        general=True,
    ),
)


def _elsewhere(wanted: Mapping[str, Layout], found: Seen) -> str | None:
    """Find the first value that is reported to be elsewhere than it was wanted; empty parts are anywhere."""
    for key, layout in wanted.items():
        given = found.observation.layouts.get(key)
        if given is None:
            continue
        for device, (right, box) in enumerate(zip(layout.boxes, given.boxes, strict=True)):
            if right is not None and box != right and not _both_empty(right, box):
                return f"{key}: device {device} is said to hold {box}, and should hold {right}"
        if given.partial != layout.partial:
            return f"{key}: it is pending along {', '.join(given.partial)} and not along {', '.join(layout.partial)}"
    return None


def _both_empty(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...] | None) -> bool:
    boxes = (one, other or ((0, 0),))
    return all(any(begin == end for begin, end in box) for box in boxes)


def _by_rule(subject: ShardedSubject) -> bool:
    return len(subject.case.mesh) == 1 and bool(subject.by_rule) and not subject.refusable


PLACEMENTS = (
    ShardedClause(
        "sharded.C40",
        "must",
        "A tensor that was moved to a placement is reported to have that placement.",
        "tinygrad.multi: from_sharded; torch.dtensor: redistribute; jax.sharding: device_put",
        lambda subject: bool(subject.wanted),
        lambda subject, found: _elsewhere(subject.wanted, found),
    ),
    ShardedClause(
        "sharded.C41",
        "may",
        "A computed value has the placement that the rules of the source give it: operands are placed as the last "
        "operand that is split, a fold along the split axis is replicated, a reshape splits the last axis with as "
        "many elements before it, and of a range that is one part that part alone is real.",
        "tinygrad.multi",
        _by_rule,
        lambda subject, found: None if found.wrong else _elsewhere(subject.by_rule, found),
    ),
    ShardedClause(
        "sharded.C42",
        "may",
        "A step whose result has elements of several parts in one place has a value, although the source refuses it.",
        "tinygrad.multi: reshape, pad, expand, shrink, stride, alu",
        _refusable,
        _given,
    ),
)
