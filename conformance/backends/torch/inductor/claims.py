"""What is asked of Inductor, as data: functional collectives that it has lowerings for, of the dtypes they document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from conformance.backends.base import Claims
from conformance.backends.torch.claims import FUNCTIONAL

LOWERED: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_uneven", "broadcast")
"""torch.inductor.comm_lowering registers these."""

WORLDS: Final = tuple(str(world) for world in range(2, 9))
"""A rank is a compilation more, and no process."""

LIMITS: Final[Mapping[str, Sequence[str]]] = {
    "world": WORLDS,
    # A step over no axis keeps a value by a copy, and a compiled function makes none for its own sake.
    "axes": ("one", "several"),
}


def _limited(limits: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return the limits of an operation without faults, which no compiler sees, and without copies."""
    known = {feature: words for feature, words in limits.items() if feature != "faults"}
    known |= {"effects": tuple(word for word in known["effects"] if word != "copy")} if "effects" in known else {}
    return {**known, **LIMITS}


CLAIMS: Final[Claims] = {**{name: _limited(FUNCTIONAL[name]) for name in LOWERED}, "schedule_of_program": {}}
