"""What a compiler makes of the steps of a typed program, as data: a collective with its ranks, or an index."""

from __future__ import annotations

from typing import Final

import msgspec

GLOBAL: Final = frozenset({"all_gather", "all_reduce", "reduce_scatter"})
"""Operations that say whether ids are global."""

FILL: Final = -1
"""What stands in a group that has fewer ranks than another."""


class Lowered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One operation of a lowered program, in the order of the program.

    ``groups`` are ranks, shorter groups filled up with -1, or the sources and targets of a permute. ``reducer`` is the
    reduction in the region of a reduction. ``global_ids`` says whether ranks count over all devices. One in the region
    of a start is ``started``; in a compiled program so many ``dones`` wait for it. An ``axis_index`` has the numbers of
    its ``index``: that by which the id of a device is divided, that of which the remainder is taken, and that by which
    this is multiplied; ``id`` says whether that is the number of a ``partition`` or of a ``replica``.

    ``dimensions`` are the axis of an all_gather or of a reduce_scatter, or of an all_to_all the axis that is split, the
    one along which pieces are joined, and their number. ``channel`` says whether it has one, by which partitions meet.
    ``manual`` are the mesh axes, sorted, over which the program that it stands in is mapped.
    """

    op: str
    groups: tuple[tuple[int, ...], ...] = ()
    reducer: str = ""
    global_ids: bool = False
    started: bool = False
    dones: int = 0
    index: tuple[int, int, int] | None = None
    id: str = ""
    dimensions: tuple[int, ...] = ()
    channel: bool = False
    manual: tuple[str, ...] = ()
