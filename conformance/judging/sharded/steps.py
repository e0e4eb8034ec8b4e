"""Values that one step makes of storage: what is said of each operation, and of where its operands and its result are.

Such a value is right or wrong because of that one step. A table of them says which operations an implementation can be
trusted with, on tensors that are placed how, and what they cost.
"""

from __future__ import annotations

import math
from typing import Final

from conformance.cases.graph.graph import LEAVES, Node
from conformance.cases.sharded.placement import Layout, layout_of
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.sharded.clause import ShardedSeen
from conformance.judging.sharded.step_outcome import StepOutcome, StepSeen
from conformance.judging.sharded.subject import ShardedSubject
from conformance.reference.sharded.placing import shape_of

NAMES: Final = {"alu": "elementwise", "cast": "convert", "bitcast": "convert", "contig": "contiguous", "copy": "move"}
"""What a table calls the operations of graphs that have other names among frameworks."""


def steps_seen(subject: ShardedSubject, found: ShardedSeen) -> tuple[StepSeen, ...]:
    """Return what was seen of each value of a legal case that one step makes."""
    seen = found.observation
    made = []
    for key, node in subject.single.items():
        way: StepOutcome = "wrong" if key in found.wrongs.keys else "right"
        made.append(_step(subject, node, seen.layouts[key], way, seen.moved.get(key)))
    return tuple(dict.fromkeys(made))


def steps_refused(subject: ShardedSubject) -> tuple[StepSeen, ...]:
    """Return the step of a legal case for which no value was given, if it has one alone: else nobody knows which."""
    computed = [node for node in subject.case.of.graph.nodes if node.op not in LEAVES]
    if not subject.legal or len(computed) != 1 or not subject.single:
        return ()
    key, node = next(iter(subject.single.items()))
    return (_step(subject, node, subject.by_rule[key], "refused", None),)


def _step(subject: ShardedSubject, node: Node, layout: Layout, found: StepOutcome, moved: int | None) -> StepSeen:
    mesh = subject.case.mesh
    nodes = {each.id: each for each in subject.case.of.graph.nodes}
    given = [nodes[name] for name in node.of if nodes[name].op == "buf"]
    layouts = [layout_of(shape_of(each), subject.placed.at[each.id], mesh) for each in given]
    words = [placed_word(shape_of(each), at) for each, at in zip(given, layouts, strict=True)]
    made = placed_word(shape_of(node), layout)
    if node.op == "copy" and layouts and made == words[0] and made not in ("whole", "one device"):
        same = layouts[0].boxes == layout.boxes
        made += ", same parts" if same else ", other parts"
    size = sum(math.prod(shape_of(each)) * NUMPY[each.dtype].itemsize for each in given)
    return StepSeen(
        op=_name(subject, node),
        given=" and ".join(dict.fromkeys(words)),
        made=made,
        found=found,
        moved=moved,
        size=size,
    )


def _name(subject: ShardedSubject, node: Node) -> str:
    if node.op != "reduce":
        return NAMES.get(node.op, node.op)
    axes = node.arg if isinstance(node.arg, tuple) else ()
    at = subject.placed.at[node.of[0]]
    along = any(split.axis in axes for split in at.splits)
    return "fold along the split axis" if along else "fold across others" if at.splits else "fold"


def placed_word(shape: tuple[int, ...], layout: Layout) -> str:
    """Return how a tensor lies, in a word or two."""
    if layout.partial:
        return "pending"
    whole = tuple((0, extent) for extent in shape)
    real = [box for box in layout.boxes if box is not None]
    if any(len(box) != len(shape) for box in real):
        return "no placement"
    if all(box == whole for box in real):
        return "whole" if len(real) == len(layout.boxes) else "one device" if len(real) == 1 else "some devices"
    cut = {axis for box in real for axis, pair in enumerate(box) if pair != whole[axis]}
    sizes = {math.prod(end - begin for begin, end in box) for box in real}
    if len(real) < len(layout.boxes):
        return "masked"
    if len(cut) > 1:
        return "two axes"
    return "even" if len(sizes) == 1 else "empty part" if 0 in sizes else "uneven"
