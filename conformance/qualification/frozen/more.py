"""Schedules that do or say more: a value that is computed again or moved on, or a flag of a buffer that had none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Access, Copy, Item, Kernel, Schedule

FRESH: Final = "one more"
"""The name of the buffer and of the kernel that a schedule has more."""

FLAGS: Final[dict[str, Any]] = {
    "preexisting": True, "held": True, "output": True, "unfused": True, "local": True,
    "communication": FRESH, "allocation": FRESH, "space": 1,
}  # fmt: skip
"""What may be said of a buffer of which nothing of the kind was said."""


def more(made: Schedule, random: Random) -> Iterator[tuple[str, Schedule]]:
    """Yield schedules with one kernel more, whose value a later item takes or nobody, and with one flag more."""
    named = {buffer.id for buffer in made.buffers}  # a malformed schedule may write to one that is not there
    kernels = [(at, item) for at, item in enumerate(made.items) if isinstance(item, Kernel) and _alone(item)]
    found = [at for at, item in kernels if _written(item).buffer in named]
    for word, change in KERNELS.items():
        taken = [at for at in found if _taken(made, at)]
        if found:
            at = random.choice(taken or found)
            for how, said in (("", True), (", unlabelled", False)):
                for takers, what in ((0, "for nobody"), (1, "for one"), (len(made.items), "for all")):
                    yield f"{word} {what}{how}", _with(made, at, change, takers, said=said)
    for field, value in FLAGS.items():
        others = [at for at, buffer in enumerate(made.buffers) if not getattr(buffer, field)]
        if others:
            at = random.choice(others)
            flagged = replace(made.buffers[at], **{field: value})
            yield f"{field} set", replace(made, buffers=(*made.buffers[:at], flagged, *made.buffers[at + 1 :]))


def _alone(item: Kernel) -> bool:
    """Return whether a kernel has a body, one write by a map, and nothing that says when it runs."""
    written = [access for access in item.accesses if access.write]
    return bool(item.bodies) and len(written) == 1 and written[0].map is not None and not (item.handle or item.after)


def _written(item: Kernel) -> Access:
    return next(access for access in item.accesses if access.write)


def _taken(made: Schedule, at: int) -> bool:
    """Return whether a later item reads what a kernel writes."""
    item, later = made.items[at], made.items[at + 1 :]
    assert isinstance(item, Kernel)
    name = _written(item).buffer
    return any(isinstance(e, Kernel | Copy) and any(_reads(access, name) for access in e.accesses) for e in later)


def _again(item: Kernel) -> Kernel:
    """Return the kernel once more, with a buffer of its own."""
    own = tuple(replace(access, buffer=FRESH) if access.write else access for access in item.accesses)
    return replace(item, id=FRESH, accesses=own)


def _moved(item: Kernel) -> Kernel:
    """Return a kernel that moves what another one wrote, as it lies."""
    written = _written(item)
    own = (Access(buffer=written.buffer, map=written.map), replace(written, buffer=FRESH))
    body = Body(extents=item.bodies[0].extents, instructions=(Load(access=0), Store(access=1, of=0)))
    return replace(item, id=FRESH, accesses=own, bodies=(body,), program="")


KERNELS: Final[dict[str, Callable[[Kernel], Kernel]]] = {"computed again": _again, "moved on": _moved}
"""By a word for each: what there is one kernel more for."""


def _with(made: Schedule, at: int, change: Callable[[Kernel], Kernel], takers: int, *, said: bool) -> Schedule:
    """Return a schedule with a kernel more behind one of its own; so many of those that read its value take the new."""
    item = made.items[at]
    assert isinstance(item, Kernel)
    name, added = _written(item).buffer, change(item)
    if not said:
        bare = tuple(replace(access, node=None, parts=0) for access in added.accesses)
        added = replace(added, accesses=bare, provenance=())
    old = next(each for each in made.buffers if each.id == name)
    fresh = Buffer(id=FRESH, size=old.size, dtype=old.dtype, device=old.device, space=old.space)
    later: list[Item] = []
    for other in made.items[at + 1 :]:
        reads = isinstance(other, Kernel | Copy) and any(_reads(access, name) for access in other.accesses)
        later.append(_taking(other, name) if reads and takers > 0 else other)
        takers -= reads
    return replace(made, buffers=(*made.buffers, fresh), items=(*made.items[: at + 1], added, *later))


def _reads(access: Access, name: str) -> bool:
    return access.buffer == name and not access.write


def _taking(item: Item, name: str) -> Item:
    assert isinstance(item, Kernel | Copy)
    own = tuple(replace(each, buffer=FRESH) if _reads(each, name) else each for each in item.accesses)
    return replace(item, accesses=own)
