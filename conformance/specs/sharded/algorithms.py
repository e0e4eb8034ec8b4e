"""Which algorithm of the source a fold over devices has the bits of: each of them is right."""

from __future__ import annotations

from collections.abc import Callable

from conformance.judging.sharded.assembly import assembled
from conformance.judging.sharded.clause import ShardedClause, ShardedSeen
from conformance.judging.sharded.fold_algorithms import same_numbers
from conformance.judging.sharded.subject import ShardedSubject
from conformance.reference.sharded.all_reduce import Algorithm, chosen


def _otherwise(name: Algorithm | None) -> Callable[[ShardedSubject, ShardedSeen], str | None]:
    """Find a fold that has not the bits of an algorithm: of ``name``, or of that which the source chooses."""

    def check(subject: ShardedSubject, found: ShardedSeen) -> str | None:
        for key, made in subject.by_algorithm.items():
            way = name or chosen(subject.case.world, made["naive"].size)
            right = made[way]
            seen = found.observation
            given = assembled(
                right.shape, subject.single[key].dtype, seen.layouts[key], seen.results[key], subject.case.mesh
            )
            if given.whole is None or not same_numbers(given.whole, right):
                return f"{key}: the fold has other bits than {way} would give"
        return None

    return check


def _clause(id: str, name: Algorithm | None, text: str) -> ShardedClause:
    return ShardedClause(
        id,
        "may",
        text,
        "tinygrad.multi: all_reduce",
        # Along one of several axes of a mesh fewer devices meet than there are.
        lambda subject: bool(subject.by_algorithm) and (name is not None or len(subject.case.mesh) == 1),
        _otherwise(name),
        told=lambda _, found: not found.observation.raised,
    )


ALGORITHMS = (
    _clause(
        "sharded.C51",
        "naive",
        "A fold over devices has the numbers of the naive algorithm of tinygrad, where zeros of both signs are one "
        "number and so are all NaNs: every device folds the contributions of all devices, in the order of the mesh, "
        "from the left.",
    ),
    _clause(
        "sharded.C52",
        "ring",
        "A fold over devices has the numbers of tinygrad's ring. Elements are cut into a chunk a device, of whole "
        "units, earlier chunks having the units left over; a unit is the greatest of 32, 16, 8, 4, 2, 1 dividing "
        "their count. Chunk n goes around from device n.",
    ),
    _clause(
        "sharded.C56",
        None,
        "A fold over devices has the numbers of the algorithm that tinygrad chooses: the ring (`sharded.C52`) for "
        "more than two devices and more than 256,000 elements, and else the naive one (`sharded.C51`).",
    ),
)
