"""Where values are, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Layout, layout_of
from conformance.cases.sharded.rules import rule
from conformance.cases.sharded.traffic import exchanged, lacked
from conformance.judging.clause import SILENT
from conformance.judging.keyed_checks import as_argument, illegal, refused
from conformance.judging.sharded.clause import ShardedClause, ShardedSeen
from conformance.judging.sharded.subject import ShardedSubject
from conformance.reference.sharded.placing import shape_of


def _breaks(clause: str) -> Callable[[ShardedSubject], bool]:
    return lambda subject: subject.rejected is not None and subject.rejected.clause == clause


def _together(_: ShardedSubject, found: ShardedSeen) -> str | None:
    """Find a device that raised no error where another did; say nothing where none did."""
    errors = enumerate(found.observation.errors)
    raised = [device for device, error in errors if error is not None and error.category != "no_answer"]
    if not raised:
        return SILENT
    if len(raised) == len(found.observation.errors):
        return None
    return f"of {len(found.observation.errors)} devices only {raised} raised"


def _refusable(subject: ShardedSubject) -> bool:
    return bool(subject.refusable)


def _given(subject: ShardedSubject, found: ShardedSeen) -> str | None:
    return f"it was refused: {subject.refusable}" if found.observation.raised else None


REFUSED = (
    ShardedClause(
        "sharded.C6",
        "must",
        "Refused is a reshape, permute, expand, shrink, stride, flip or reduction whose shape does not follow from "
        "its source: a range outside an axis, an axis that is not there or that a permute leaves out, another number "
        "of axes or elements, an expanded extent other than 1.",
        "tinygrad.multi; stablehlo.operations: slice, transpose, reshape, broadcast_in_dim, reverse, reduce",
        _breaks("sharded.C6"),
        refused,
    ),
    ShardedClause(
        "sharded.C7",
        "must",
        "A placement that does not fit is refused: real parts that do not tile an axis, a wrong number of parts or "
        "mask entries, an unknown or twice used axis, mesh axis or device, no real part, contributions "
        "except of a reduction along mesh axes cutting what it folds.",
        "tinygrad.multi: from_sharded; torch.dtensor; jax.sharding",
        _breaks("sharded.C7"),
        refused,
    ),
    ShardedClause(
        "sharded.C8",
        "must",
        "A program with a tensor of which an extent is a variable is refused, also where a value is given for the "
        "variable, and however the tensor is placed.",
        "tinygrad.multi: all_reduce",
        _breaks("sharded.C8"),
        refused,
    ),
    ShardedClause(
        "sharded.C53",
        "must",
        "An assign of a value of another shape or dtype than its target is refused.",
        "tinygrad.multi: MultiLazyBuffer.assign",
        _breaks("sharded.C53"),
        refused,
    ),
    ShardedClause(
        "sharded.C54",
        "must",
        "An operation on tensors of different devices, or of the same devices in another order, is refused, and so is "
        "one on a tensor of a mesh and a plain tensor of one device: only a copy moves a tensor to other devices.",
        "tinygrad.multi: MultiLazyBuffer.alu",
        _breaks("sharded.C54"),
        refused,
    ),
    ShardedClause(
        "sharded.C55",
        "must",
        "A tensor that is made of given parts is refused where there is none, where a part has another dtype than the "
        "tensor, and where there are more or fewer parts than devices.",
        "tinygrad.multi: MultiLazyBuffer.__init__",
        _breaks("sharded.C55"),
        refused,
    ),
    ShardedClause(
        "sharded.C9",
        "should",
        "The error that refuses a program, or a step that needs elements of several parts on one device "
        "(`sharded.C42`), is reported as a wrong argument or as something that is not supported.",
        "ours",
        lambda subject: illegal(subject) or _refusable(subject),
        as_argument,
        of_errors=True,
    ),
    ShardedClause(
        "sharded.C10",
        "must",
        "Where one device raises an error for a program, every device does.",
        "torch.distributed",
        lambda _: True,
        _together,
        general=True,
        of_errors=True,
    ),
)


def _elsewhere(wanted: Mapping[str, Layout], found: ShardedSeen) -> str | None:
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


def _costly(subject: ShardedSubject) -> dict[str, Node]:
    """Return by key the moves and the folds of a split axis that one step makes of storage: its placement is given."""
    found, stored = {}, {each.id for each in subject.case.of.graph.nodes if each.op == "buf"}
    for key, node in ((key, node) for key, node in subject.single.items() if stored.issuperset(node.of)):
        at = subject.placed.at[node.of[0]]
        axes = node.arg if node.op == "reduce" and isinstance(node.arg, tuple) else ()
        if node.op == "copy" or any(split.axis in axes for split in at.splits):
            found[key] = node
    return found


def _needed(subject: ShardedSubject, node: Node, given: Layout) -> int | None:
    """Return the bytes that a move, or a fold in which each device reads the parts of the others, has to get."""
    source = next(each for each in subject.case.of.graph.nodes if each.id == node.of[0])
    shape, at, mesh = shape_of(source), subject.placed.at[source.id], subject.case.mesh
    if node.op == "copy":
        return lacked(node.dtype, layout_of(shape, at, mesh), given)
    if node.id in subject.placed.refused:
        return None
    how, made = rule(node, [shape], [source.dtype], [at], mesh), shape_of(node)
    folded = exchanged(made, node.acc or node.dtype, how.made, mesh, how.folded)
    there = layout_of(made, replace(how.made, partial={}), mesh)
    return folded + (0 if given.partial else lacked(node.dtype, there, given))


def _wasteful(subject: ShardedSubject, found: ShardedSeen) -> str | None:
    """Find a step that moved more than it needs; say nothing where of none it is known what it needs."""
    seen, told = found.observation, False
    for key, node in _costly(subject).items():
        # Of boxes with other axes than the tensor's another clause speaks.
        if key in seen.moved and key in seen.layouts and _of_rank(seen.layouts[key], len(node.shape)):
            needed = _needed(subject, node, seen.layouts[key])
            told |= needed is not None
            if needed is not None and seen.moved[key] > needed:
                return f"{key}: {seen.moved[key]} bytes went from device to device, and {needed} are enough"
    return None if told else SILENT


def _of_rank(layout: Layout, rank: int) -> bool:
    return all(box is None or len(box) == rank for box in layout.boxes)


def _missized(subject: ShardedSubject, found: ShardedSeen) -> str | None:
    for key, size in found.observation.sizes.items():
        right = subject.expected[key].array.size
        if size != right:
            return f"{key}: it is said to have {size} elements, and has {right}"
    return None


def _unrealized(_: ShardedSubject, found: ShardedSeen) -> str | None:
    unreal = next((key for key, said in found.observation.realized.items() if not said), None)
    return None if unreal is None else f"{unreal}: it is said not to be realized, and its parts were given"


PLACEMENTS = (
    ShardedClause(
        "sharded.C40",
        "must",
        "Where an implementation reports placements, a tensor that a copy moved to a placement is reported to have "
        "that placement and to be partial along no mesh axis; parts that are not real, or have no elements, can be "
        "anywhere.",
        "tinygrad.multi: from_sharded; torch.dtensor: redistribute; jax.sharding: device_put",
        lambda subject: bool(subject.wanted),
        lambda subject, found: _elsewhere(subject.wanted, found),
    ),
    ShardedClause(
        "sharded.C43",
        "should",
        "Of bytes reported to move between devices, a copy of a stored tensor takes at most what each device lacks of "
        "its new part, and a fold of one along a split axis each contribution once to every other device of its "
        "group, then what the result's parts lack.",
        "tinygrad.multi: all_reduce; torch.dtensor: redistribute",
        lambda subject: bool(_costly(subject)),
        _wasteful,
        told=lambda subject, found: bool(_costly(subject).keys() & found.observation.moved.keys()),
    ),
    ShardedClause(
        "sharded.C44",
        "must",
        "An implementation that says how many elements a tensor has counts those of the logical tensor, each once: no "
        "replicas, no padding, nothing that is not real.",
        "tinygrad.multi: size; torch.dtensor; jax.sharding",
        lambda subject: subject.legal and bool(subject.expected),
        _missized,
        told=lambda _, found: bool(found.observation.sizes),
    ),
    ShardedClause(
        "sharded.C45",
        "should",
        "An implementation that says of tensors whether they are realized says of every tensor whose real parts it "
        "gave that it is, whatever becomes of parts that are not real.",
        "tinygrad.multi: is_realized",
        lambda subject: subject.legal and bool(subject.expected),
        _unrealized,
        told=lambda _, found: bool(found.observation.realized),
    ),
    ShardedClause(
        "sharded.C41",
        "may",
        "On one mesh axis, a computed value has tinygrad's placement: that of the last split operand; "
        "replicated after a fold along the split axis; split, after a reshape, along the last axis with as many "
        "elements before it as the old one; one real part after a shrink to one.",
        "tinygrad.multi",
        _by_rule,
        lambda subject, found: SILENT if found.wrongs.keys else _elsewhere(subject.by_rule, found),
    ),
    ShardedClause(
        "sharded.C42",
        "may",
        "A step is computed also where its result needs, on one device, elements of several parts of "
        "its operand. tinygrad raises an error instead, which is as right.",
        "tinygrad.multi: reshape, pad, expand, shrink, stride, alu",
        _refusable,
        _given,
        of_errors=True,
    ),
)
