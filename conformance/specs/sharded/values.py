"""The values law of sharded tensors, and what it says of each operation and placement."""

from __future__ import annotations

from conformance.judging.clause import SILENT, Requirement
from conformance.judging.graphs.values import beside, bounded, one_right
from conformance.judging.keyed_checks import about, right, way
from conformance.judging.sharded.clause import ShardedClause, ShardedDivergence, ShardedSeen, kept_zeros
from conformance.judging.sharded.subject import ShardedSubject

NO_TENSOR = ("form", "bounds", "replicas")
"""How a value can be wrong so that nothing is known of its elements."""


def _legal(subject: ShardedSubject) -> bool:
    return subject.legal and bool(subject.expected)


def _settled(subject: ShardedSubject) -> bool:
    return subject.legal and any(one_right(each) for each in subject.expected.values())


def _bounded(subject: ShardedSubject) -> bool:
    return subject.legal and any(bounded(each) for each in subject.expected.values())


GENERAL = (
    ShardedClause(
        "sharded.C1",
        "must",
        "Each device gives its real part of each value asked for, in the value's dtype and in the shape that the "
        "reported placement says. One operation that the dtype has folds all contributions. Exceptions are a refused "
        "step (`sharded.C42`) and an error for a gather's undecided or outside index.",
        "tinygrad.multi; torch.dtensor; jax.sharding",
        _legal,
        way("form"),
        general=True,
    ),
    ShardedClause(
        "sharded.C2",
        "must",
        "The real parts that the reported placement of a value names tile its tensor: every element lies in one, two "
        "that are not replicas of each other share no element, and none reaches outside the tensor. Contributions "
        "that are folded together are of the same elements.",
        "tinygrad.multi: bounds; torch.dtensor; jax.sharding",
        _legal,
        way("bounds"),
        general=True,
    ),
    ShardedClause(
        "sharded.C3",
        "must",
        "Replicas of a part have the same bits. Of a partial tensor the contributions need not have them, but their "
        "folds, in the order of the mesh, have the same bits for all replicas of the part that they are folded to.",
        "tinygrad.multi: all_reduce; torch.dtensor; jax.sharding",
        _legal,
        way("replicas"),
        general=True,
    ),
    ShardedClause(
        "sharded.C4",
        "must",
        "Elements with one right value have its bits in the parts together: those of the same program on whole "
        "tensors, whatever the placements. Free are signs of zeros that were computed, split or moved, computed NaNs' "
        "signs and payloads, maxima beside a NaN (`sharded.C38`), and the number model's choices.",
        "tinygrad.multi; torch.dtensor; jax.sharding",
        _settled,
        way("bits"),
        general=True,
    ),
    ShardedClause(
        "sharded.C5",
        "must",
        "Where several values are right, as where a fold over devices rounds in some order or a tensor is still "
        "partial, the value is no further from the exact one than the error bound, which covers every order, so "
        "within twice the bound of the value that list order gives.",
        "tinygrad.multi: all_reduce; ieee754",
        _bounded,
        way("bound"),
        general=True,
    ),
)


def _about(id: str, words: tuple[str, ...], text: str, source: str, requirement: Requirement = "must") -> ShardedClause:
    """Return the clause about values that are made of what some words stand for together."""
    return ShardedClause(id, requirement, text, source, about(*words), right(*words))


def _by_position(subject: ShardedSubject, found: ShardedSeen) -> str | None:
    """Find a wrong value, or one whose parts are where the numbers of the devices, sorted, would have them."""
    numbers = sorted(subject.case.devices)
    places = [numbers.index(number) for number in subject.case.devices]
    for key, layout in subject.wanted.items():
        given, turned = found.observation.layouts.get(key), tuple(layout.boxes[place] for place in places)
        if given is not None and given.boxes == turned != layout.boxes:
            return f"{key}: its parts are in the order of the numbers {numbers}, not of the devices of the mesh"
    return right("turned")(subject, found)


def _with_kept_zeros(subject: ShardedSubject) -> set[str]:
    """Return the values that were split or moved and have a zero that was not computed."""
    there = {key for key, words in subject.traits.items() if words & {"split", "move"}}
    return {key for key in there if kept_zeros(subject.expected[key]).any()}


def _beside_nan(subject: ShardedSubject) -> set[str]:
    return {key for key, each in subject.expected.items() if beside(each).any()}


def _signs(subject: ShardedSubject, found: ShardedSeen) -> str | None:
    return next(iter(found.signs.values()), _unseen(_with_kept_zeros(subject), found))


def _lost(subject: ShardedSubject, found: ShardedSeen) -> str | None:
    return next(iter(found.lost.values()), _unseen(_beside_nan(subject), found))


def _unseen(about: set[str], found: ShardedSeen) -> str | None:
    """Return ``SILENT`` where the parts of some value make no tensor, of whose elements something is said."""
    broken = {wrong.key for wrong in (*found.wrongs.first, *found.wrongs.follow) if wrong.how in NO_TENSOR}
    return SILENT if about & broken else None


OPERATIONS = (
    _about(
        "sharded.C11",
        ("even",),
        "Where mesh axes cut an axis of a tensor into parts of one size, the parts joined along that axis, in the "
        "order of their devices' positions along these mesh axes, are the tensor.",
        "tinygrad.multi: from_sharded; torch.dtensor; jax.sharding",
    ),
    _about(
        "sharded.C12",
        ("uneven",),
        "Where an axis of a tensor is cut into parts of different sizes, the parts joined along it are the tensor: no "
        "element is missing, and no element of a padding shows.",
        "tinygrad.multi: from_sharded, bounds; torch.dtensor",
    ),
    _about(
        "sharded.C13",
        ("empty_part",),
        "A part without elements changes no value: it contributes nothing to a fold, and nothing to the extent of the "
        "tensor.",
        "tinygrad.multi: from_sharded, r; torch.dtensor",
    ),
    _about(
        "sharded.C14",
        ("masked",),
        "Elements that a device holds outside the real parts of a tensor show in no value.",
        "tinygrad.multi: real",
    ),
    _about(
        "sharded.C15",
        ("pending",),
        "The contributions of a partial tensor are folded, each once, before any operation that gives something "
        "else when it is done before the fold, such as adding a number to a sum, negating a maximum, or a "
        "comparison.",
        "torch.dtensor: Partial",
    ),
    _about(
        "sharded.C16",
        ("crossed",),
        "Where two mesh axes cut two axes of a tensor, each device holds the elements that lie in its part along the "
        "one axis and in its part along the other.",
        "torch.dtensor; jax.sharding",
    ),
    _about(
        "sharded.C17",
        ("several",),
        "Where several mesh axes cut one axis, the parts are numbered in row-major order of these mesh axes as the "
        "placement lists them.",
        "torch.dtensor; jax.sharding",
    ),
    ShardedClause(
        "sharded.C18",
        "must",
        "The numbers of the devices change no value: a part belongs to a position in the mesh, whatever number the "
        "device there has.",
        "jax.sharding; torch.dtensor",
        about("turned"),
        _by_position,
    ),
    _about(
        "sharded.C19",
        ("elementwise",),
        "An elementwise operation combines elements that have the same place in the whole tensor, whatever parts "
        "they are in.",
        "tinygrad.multi: alu",
    ),
    _about(
        "sharded.C20",
        ("mixed",),
        "Operands with different placements give what the whole tensors give: moving one to the "
        "placement of the other changes no value, and a replicated value counts once.",
        "tinygrad.multi: alu; torch.dtensor",
    ),
    _about(
        "sharded.C21",
        ("across",),
        "Where no axis that a fold is along is split, each element of the result is the fold of elements of one part, "
        "and, where the tensor is partial, of all contributions to these.",
        "tinygrad.multi: r",
    ),
    _about(
        "sharded.C22",
        ("along",),
        "A fold along a split axis folds the elements of all parts, each once, whatever the "
        "placement of the result is.",
        "tinygrad.multi: r, all_reduce",
    ),
    _about(
        "sharded.C23",
        ("reshape_split",),
        "A reshape keeps the row-major order of the elements of the whole tensor, whichever axis is split afterwards.",
        "tinygrad.multi: reshape",
    ),
    _about(
        "sharded.C24",
        ("pad_split",),
        "A pad adds zeros around the whole tensor, not around its parts.",
        "tinygrad.multi: pad",
    ),
    _about(
        "sharded.C25",
        ("expand_split",),
        "An expand repeats the elements of the whole tensor along axes of extent 1, however the tensor is cut.",
        "tinygrad.multi: expand",
    ),
    _about(
        "sharded.C26",
        ("permute_split",),
        "A permute reorders the axes of the whole tensor, whichever of them are split.",
        "tinygrad.multi: permute",
    ),
    _about(
        "sharded.C27",
        ("shrink_split",),
        "A shrink takes a range of each axis of the whole tensor, whether that is one part, several parts, or some "
        "elements of each.",
        "tinygrad.multi: shrink",
    ),
    _about(
        "sharded.C28",
        ("stride_split",),
        "A stride takes its steps over the whole tensor, and goes on from one part to the next.",
        "tinygrad.multi: stride",
    ),
    _about(
        "sharded.C29",
        ("flip_split",),
        "A flip reverses the whole tensor along its axes: along a split axis the last element of the last part "
        "comes first.",
        "tinygrad.multi: stride",
    ),
    _about(
        "sharded.C30",
        ("gathered",),
        "The indices of a gather number elements of the whole tensor, not of a part.",
        "stablehlo.operations: gather; torch.dtensor",
    ),
    _about(
        "sharded.C31",
        ("counted", "split"),
        "An iota along a split axis counts through the whole tensor, and does not begin again in each part.",
        "stablehlo.operations: iota; jax.sharding",
    ),
    _about(
        "sharded.C32",
        ("written",),
        "An assign writes the elements of its target in every part and every replica that has them, and no other "
        "elements.",
        "tinygrad.multi: assign",
    ),
    _about(
        "sharded.C33",
        ("convert",),
        "A conversion or a bitcast makes of each element in every part what it makes of that element of the whole "
        "tensor, and leaves it at its place in the tensor.",
        "tinygrad.multi: cast",
    ),
    _about(
        "sharded.C34",
        ("kept",),
        "A tensor that is made contiguous keeps its value.",
        "tinygrad.multi: contiguous, clone",
    ),
    _about(
        "sharded.C35",
        ("move",),
        "A tensor that is moved to another placement keeps its value, also when its source is written after the move.",
        "tinygrad.multi: copy_to_device, from_sharded; torch.dtensor: redistribute; jax.sharding",
    ),
    _about(
        "sharded.C36",
        ("detach_split",),
        "A detached tensor has the value of its source.",
        "tinygrad.multi: detach",
    ),
    _about(
        "sharded.C46",
        ("late",),
        "A value that was computed of storage keeps what the storage held then: a later assign, or a "
        "later write from outside, does not change it, whichever device, part or replica it writes.",
        "tinygrad.multi: assign; tinygrad.schedule: assign",
    ),
    _about(
        "sharded.C47",
        ("overwritten",),
        "Where several writes go to one element of storage, the last one in the order of the rounds and of the "
        "program stands, in every part and every replica.",
        "tinygrad.multi: assign; tinygrad.schedule: assign",
    ),
    _about(
        "sharded.C48",
        ("viewed",),
        "An assign to a view of storage writes the elements of the whole tensor that the view shows, in the order in "
        "which it shows them, whichever parts have them.",
        "tinygrad.multi: assign",
    ),
    _about(
        "sharded.C49",
        ("masked", "pad_split"),
        "Where a pad makes room for the other parts around a tensor with one real part, zeros stand in their places, "
        "whatever the devices of these parts hold.",
        "tinygrad.multi: pad",
    ),
    _about(
        "sharded.C50",
        ("const", "split"),
        "A constant has its value at every element of every part.",
        "tinygrad.multi: const_like",
    ),
    ShardedClause(
        "sharded.C37",
        "should",
        "An element of a value that is a zero, and that was split or moved but not computed, keeps the sign that it "
        "was given with.",
        "ieee754: 6.3; tinygrad.multi: copy_to_device",
        lambda subject: bool(_with_kept_zeros(subject)),
        _signs,
        diverges=(
            ShardedDivergence(
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
        "A maximum or a minimum of floats with a NaN among them, elementwise or as a fold, is NaN, whichever device "
        "holds the NaN.",
        "ieee754: 9.6; numpy.maximum; stablehlo.operations: maximum",
        lambda subject: bool(_beside_nan(subject)),
        _lost,
    ),
)
