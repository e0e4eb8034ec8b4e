"""The values law of sharded tensors, and what it says of each operation and placement."""

from __future__ import annotations

from conformance.judging.clause import Requirement
from conformance.judging.graphs.values import beside, bounded, settled
from conformance.judging.keyed_checks import about, right, way
from conformance.judging.sharded.clause import Differing, Seen, ShardedClause
from conformance.judging.sharded.subject import ShardedSubject


def _legal(subject: ShardedSubject) -> bool:
    return subject.legal and bool(subject.expected)


def _settled(subject: ShardedSubject) -> bool:
    return subject.legal and any(settled(each) for each in subject.expected.values())


def _bounded(subject: ShardedSubject) -> bool:
    return subject.legal and any(bounded(each) for each in subject.expected.values())


GENERAL = (
    ShardedClause(
        "sharded.C1",
        "must",
        "Every device gives its part of every value that is asked for, in the dtype of the value and in the shape "
        "that the placement which the implementation reports says. Contributions to one value are folded by one "
        "operation, which its dtype has.",
        "tinygrad.multi; torch.dtensor; jax.sharding",
        _legal,
        way("form"),
        general=True,
    ),
    ShardedClause(
        "sharded.C2",
        "must",
        "The real parts tile the tensor: every element lies in a part, two parts that are not replicas of each "
        "other share no element, and no part lies outside the tensor. Contributions that are folded together are "
        "of the same elements.",
        "tinygrad.multi: bounds; torch.dtensor; jax.sharding",
        _legal,
        way("bounds"),
        general=True,
    ),
    ShardedClause(
        "sharded.C3",
        "must",
        "Replicas of a part have the same bits. Of a partial tensor the folds of their contributions have.",
        "tinygrad.multi: all_reduce; torch.dtensor; jax.sharding",
        _legal,
        way("replicas"),
        general=True,
    ),
    ShardedClause(
        "sharded.C4",
        "must",
        "Where only one value is right, the parts together have its bits: those of the same program on whole "
        "tensors, whatever their placements. Free are the signs of zeros that were computed, split or moved, "
        "computed NaNs' signs and payloads, and what a choice of the number model can change.",
        "tinygrad.multi; torch.dtensor; jax.sharding",
        _settled,
        way("bits"),
        general=True,
    ),
    ShardedClause(
        "sharded.C5",
        "must",
        "Where several values are right, as where a fold over devices rounds in some order or a tensor is still "
        "partial, the value is no further from the exact one than the error bound, which covers every order.",
        "tinygrad.multi: all_reduce; ieee754",
        _bounded,
        way("bound"),
        general=True,
    ),
)


def _about(
    number: int, words: tuple[str, ...], text: str, source: str, requirement: Requirement = "must"
) -> ShardedClause:
    """Return the clause about values that are made of what some words stand for together."""
    return ShardedClause(f"sharded.C{number}", requirement, text, source, about(*words), right(*words))


def _signs(_: ShardedSubject, found: Seen) -> str | None:
    return next(iter(found.signs.values()), None)


def _lost(_: ShardedSubject, found: Seen) -> str | None:
    return next(iter(found.lost.values()), None)


def _beside_nan(subject: ShardedSubject) -> bool:
    return subject.legal and any(beside(each).any() for each in subject.expected.values())


OPERATIONS = (
    _about(
        11,
        ("even",),
        "Where a tensor is cut into parts of one size, the parts make it up again, in the order of the positions "
        "along the mesh axes that cut it.",
        "tinygrad.multi: from_sharded; torch.dtensor; jax.sharding",
    ),
    _about(
        12,
        ("uneven",),
        "Where a tensor is cut into parts of different sizes, the parts make it up again: no element is missing, "
        "and no padding shows.",
        "tinygrad.multi: from_sharded, bounds; torch.dtensor",
    ),
    _about(
        13,
        ("empty_part",),
        "A part without elements contributes nothing to a fold or a shape.",
        "tinygrad.multi: from_sharded, r; torch.dtensor",
    ),
    _about(
        14,
        ("masked",),
        "Elements that a device holds outside the real parts show in no value.",
        "tinygrad.multi: real",
    ),
    _about(
        15,
        ("pending",),
        "The contributions of a partial tensor are folded, each once, before any operation that gives something "
        "else when it is done before the fold, such as adding a number to a sum, negating a maximum, or a "
        "comparison.",
        "torch.dtensor: Partial",
    ),
    _about(
        16,
        ("crossed",),
        "Where two mesh axes cut two axes of the tensor, each device holds the part in which both cuts meet.",
        "torch.dtensor; jax.sharding",
    ),
    _about(
        17,
        ("several",),
        "Where several mesh axes cut one axis, the parts are numbered in row-major order of these mesh axes as the "
        "placement lists them.",
        "torch.dtensor; jax.sharding",
    ),
    _about(
        18,
        ("turned",),
        "The numbers of the devices change no value: parts belong to positions of the mesh.",
        "jax.sharding; torch.dtensor",
    ),
    _about(
        19,
        ("elementwise",),
        "An elementwise operation combines elements that have the same place in the whole tensor, whatever parts "
        "they are in.",
        "tinygrad.multi: alu",
    ),
    _about(
        20,
        ("mixed",),
        "Operands with different placements give what the whole tensors give: moving one to the "
        "placement of the other changes no value, and a replicated value counts once.",
        "tinygrad.multi: alu; torch.dtensor",
    ),
    _about(
        21,
        ("across",),
        "A fold along axes that are not split has, for the elements of each part, the fold of that part alone, "
        "and of all contributions where the tensor is partial.",
        "tinygrad.multi: r",
    ),
    _about(
        22,
        ("along",),
        "A fold along a split axis folds the elements of all parts, each once, whatever the "
        "placement of the result is.",
        "tinygrad.multi: r, all_reduce",
    ),
    _about(
        23,
        ("reshape_split",),
        "A reshape keeps the row-major order of the elements of the whole tensor, whichever axis is split afterwards.",
        "tinygrad.multi: reshape",
    ),
    _about(
        24,
        ("pad_split",),
        "A pad adds zeros around the whole tensor, not around its parts.",
        "tinygrad.multi: pad",
    ),
    _about(25, ("expand_split",), "An expand repeats the elements of the whole tensor.", "tinygrad.multi: expand"),
    _about(
        26,
        ("permute_split",),
        "A permute turns the axes of the whole tensor, whichever of them are split.",
        "tinygrad.multi: permute",
    ),
    _about(
        27,
        ("shrink_split",),
        "A shrink takes a range of the whole tensor: one part, several parts, or some elements of each.",
        "tinygrad.multi: shrink",
    ),
    _about(
        28,
        ("stride_split",),
        "A stride takes its steps over the whole tensor, and goes on from one part to the next.",
        "tinygrad.multi: stride",
    ),
    _about(
        29,
        ("flip_split",),
        "A flip reverses the whole tensor along its axes: along a split axis the last element of the last part "
        "comes first.",
        "tinygrad.multi: stride",
    ),
    _about(
        30,
        ("gathered",),
        "The indices of a gather number elements of the whole tensor, not of a part.",
        "stablehlo.operations: gather; torch.dtensor",
    ),
    _about(
        31,
        ("counted", "split"),
        "An iota counts through the whole tensor, and does not begin again in each part.",
        "stablehlo.operations: iota; jax.sharding",
    ),
    _about(
        32,
        ("written",),
        "An assign writes the elements of its target in every part and every replica that has them, and no other "
        "elements.",
        "tinygrad.multi: assign",
    ),
    _about(
        33,
        ("convert",),
        "A conversion or a bitcast converts the elements of every part, and leaves each at its place in the tensor.",
        "tinygrad.multi: cast",
    ),
    _about(34, ("kept",), "A tensor that is made contiguous keeps its value.", "tinygrad.multi: contiguous, clone"),
    _about(
        35,
        ("move",),
        "A tensor that is moved to another placement keeps its value, also when its source is written after the move.",
        "tinygrad.multi: copy_to_device, from_sharded; torch.dtensor: redistribute; jax.sharding",
    ),
    _about(
        36,
        ("detach_split",),
        "A detached tensor has the value of its source.",
        "tinygrad.multi: detach",
    ),
    _about(
        46,
        ("late",),
        "A value that was computed of storage keeps what the storage held then: a later assign, or a "
        "later write from outside, does not change it, whichever device, part or replica it writes.",
        "tinygrad.multi: assign; tinygrad.schedule: assign",
    ),
    _about(
        47,
        ("overwritten",),
        "Where several writes go to one element of storage, the last one in the order of the rounds and of the "
        "program stands, in every part and every replica.",
        "tinygrad.multi: assign; tinygrad.schedule: assign",
    ),
    _about(
        48,
        ("viewed",),
        "An assign to a view of storage writes the elements of the whole tensor that the view shows, in the order in "
        "which it shows them, whichever parts have them.",
        "tinygrad.multi: assign",
    ),
    _about(
        49,
        ("masked", "pad_split"),
        "One part that is padded to its place in the whole tensor has zeros where the other parts would be, whatever "
        "their devices hold.",
        "tinygrad.multi: pad",
    ),
    _about(
        50,
        ("const", "split"),
        "A constant has its value in every part.",
        "tinygrad.multi: const_like",
    ),
    ShardedClause(
        "sharded.C37",
        "should",
        "A zero that is split or moved, and was not computed, keeps its sign.",
        "ieee754: 6.3; tinygrad.multi: copy_to_device",
        lambda subject: subject.legal and any(words & {"split", "move"} for words in subject.made_of),
        _signs,
        diverges=(
            Differing(
                "tinygrad",
                "Parts are gathered on several devices by adding them to zeros, so that -0.0 becomes 0.0. A gather "
                "on one "
                "device keeps every bit in 0.14.0.",
            ),
        ),
    ),
    ShardedClause(
        "sharded.C38",
        "should",
        "A maximum or a minimum, of elements or as a fold, of values with a NaN among them is NaN, whichever device "
        "holds the NaN.",
        "ieee754: 9.6; numpy.maximum; stablehlo.operations: maximum",
        _beside_nan,
        _lost,
    ),
)
