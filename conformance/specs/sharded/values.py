"""The values law of sharded tensors, and what it says of each operation and placement."""

from __future__ import annotations

from conformance.judging.clause import Requirement
from conformance.judging.graphs.values import beside, bounded, settled
from conformance.judging.sharded.clause import Differing, Seen, ShardedClause, about, right, way
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
        "Every device gives its part of every value that is asked for, with the dtype of the value and the shape that "
        "the placement says which the implementation itself reports.",
        "tinygrad.multi; torch.dtensor; jax.sharding",
        _legal,
        way("form"),
        general=True,
    ),
    ShardedClause(
        "sharded.C2",
        "must",
        "The parts that are real tile the tensor: every element is in one, none is in two that are not replicas, and "
        "none lies outside.",
        "tinygrad.multi: bounds; torch.dtensor; jax.sharding",
        _legal,
        way("bounds"),
        general=True,
    ),
    ShardedClause(
        "sharded.C3",
        "must",
        "Replicas are equal, bit by bit.",
        "tinygrad.multi: all_reduce; torch.dtensor; jax.sharding",
        _legal,
        way("replicas"),
        general=True,
    ),
    ShardedClause(
        "sharded.C4",
        "must",
        "Where one value is right the parts make it, bit by bit: that of the same program on whole tensors, whatever "
        "the placements and however often something was moved. A zero or a NaN that was computed may have another "
        "sign, and a NaN another payload.",
        "tinygrad.multi; torch.dtensor; jax.sharding",
        _settled,
        way("bits"),
        general=True,
    ),
    ShardedClause(
        "sharded.C5",
        "must",
        "Where the order of devices shows, or terms of a sum are kept apart, a value is no farther from the real one "
        "than any order takes it.",
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
        "Parts of one size make the tensor that was cut, in the order of the mesh.",
        "tinygrad.multi: from_sharded; torch.dtensor; jax.sharding",
    ),
    _about(
        12,
        ("uneven",),
        "Parts of different sizes make the tensor that was cut: no element is missing, no padding shows.",
        "tinygrad.multi: from_sharded, bounds; torch.dtensor",
    ),
    _about(
        13,
        ("empty_part",),
        "A part without elements adds nothing: not to a sum, not to a product or a maximum, not to a shape.",
        "tinygrad.multi: from_sharded, r; torch.dtensor",
    ),
    _about(
        14,
        ("masked",),
        "What a device holds that is not real shows in no value.",
        "tinygrad.multi: real",
    ),
    _about(
        15,
        ("pending",),
        "Contributions are folded once each before anything is done that is not linear in them.",
        "torch.dtensor: Partial",
    ),
    _about(
        16,
        ("crossed",),
        "Two mesh axes that cut two axes give each device the part of both cuts.",
        "torch.dtensor; jax.sharding",
    ),
    _about(
        17,
        ("several",),
        "Several mesh axes that cut one axis number its parts in their own order, the major one first.",
        "torch.dtensor; jax.sharding",
    ),
    _about(
        18,
        ("turned",),
        "What devices are numbered changes nothing: parts belong to positions of the mesh.",
        "jax.sharding; torch.dtensor",
    ),
    _about(
        19,
        ("elementwise",),
        "An elementwise operation combines elements of the same place in the tensor, whatever part they are in.",
        "tinygrad.multi: alu",
    ),
    _about(
        20,
        ("mixed",),
        "Operands that are placed differently are placed alike first: what is moved is what it was, and what is "
        "replicated counts once.",
        "tinygrad.multi: alu; torch.dtensor",
    ),
    _about(
        21,
        ("across",),
        "A fold of other axes than those that are split folds each part by itself.",
        "tinygrad.multi: r",
    ),
    _about(
        22,
        ("along",),
        "A fold of an axis that is split folds the elements of all parts, each once, on every device alike.",
        "tinygrad.multi: r, all_reduce",
    ),
    _about(
        23,
        ("reshape_split",),
        "A reshape keeps the order of the elements of the whole tensor, whichever axis is split then.",
        "tinygrad.multi: reshape",
    ),
    _about(
        24,
        ("pad_split",),
        "A pad surrounds the whole tensor, not its parts; what is added is zero.",
        "tinygrad.multi: pad",
    ),
    _about(25, ("expand_split",), "An expansion repeats the whole tensor.", "tinygrad.multi: expand"),
    _about(26, ("permute_split",), "With its axes a tensor's split is permuted.", "tinygrad.multi: permute"),
    _about(
        27,
        ("shrink_split",),
        "A range is one of the whole tensor: a part, several, or some of each.",
        "tinygrad.multi: shrink",
    ),
    _about(
        28,
        ("stride_split",),
        "Steps are taken over the whole tensor: they go on from one part to the next.",
        "tinygrad.multi: stride",
    ),
    _about(
        29,
        ("flip_split",),
        "What is turned round is the whole tensor: the last part comes first.",
        "tinygrad.multi: stride",
    ),
    _about(
        30,
        ("gathered",),
        "Indices number elements of the whole tensor, not of a part.",
        "stablehlo.operations: gather; torch.dtensor",
    ),
    _about(
        31,
        ("counted", "split"),
        "A count goes through the whole tensor: it does not begin again in each part.",
        "stablehlo.operations: iota; jax.sharding",
    ),
    _about(
        32,
        ("written",),
        "An assign writes the elements of its target in every part and every replica that has them, and no others.",
        "tinygrad.multi: assign",
    ),
    _about(33, ("convert",), "A conversion, or a cast of bits, leaves parts where they are.", "tinygrad.multi: cast"),
    _about(34, ("kept",), "What is made contiguous is what it was.", "tinygrad.multi: contiguous, clone"),
    _about(
        35,
        ("move",),
        "What is moved to another placement is what it was, and stays so when its source is written later.",
        "tinygrad.multi: copy_to_device, from_sharded; torch.dtensor: redistribute; jax.sharding",
    ),
    _about(36, ("detach_split",), "What is detached is what it was, where it was.", "tinygrad.multi: detach"),
    ShardedClause(
        "sharded.C37",
        "should",
        "A zero keeps its sign when it is moved.",
        "ieee754: 6.3; tinygrad.multi: copy_to_device",
        about("move"),
        _signs,
        diverges=(Differing("tinygrad", "Parts are gathered by adding them to zeros, so that -0.0 becomes 0.0."),),
    ),
    ShardedClause(
        "sharded.C38",
        "should",
        "A maximum or a minimum of a NaN is a NaN, whichever device has it.",
        "ieee754: 9.6; numpy.maximum; stablehlo.operations: maximum",
        _beside_nan,
        _lost,
    ),
)
