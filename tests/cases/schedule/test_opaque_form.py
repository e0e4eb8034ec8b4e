"""Who reads and who writes in an opaque collective is what the reference does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.schedule.builders import buffer, graph, node, reads, schedule, stored, writes
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.opaque_form import readers, writers
from conformance.cases.schedule.schedule import Access, Collective, Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.reference.operations import OPERATIONS
from conformance.specs.schedules import judge

ATTRS: dict[str, dict[str, Any]] = {
    "broadcast": {"root": 1},
    "gather": {"root": 1, "axis": 0, "tiled": True},
    "reduce": {"root": 1, "op": "sum"},
    "scatter": {"root": 1, "axis": 0, "tiled": True},
    "permute": {"pairs": ((1, 0),)},
    "send": {"pairs": ((1, 0),)},
    "shuffle": {"sources": (1, 0)},
    "all_reduce": {"op": "sum"},
    "arg_reduce": {"op": "max"},
    "all_gather": {"axis": 0, "tiled": True},
    "reduce_scatter": {"op": "sum", "axis": 0, "tiled": True},
    "all_to_all": {"split_axis": 0, "concat_axis": 0, "tiled": True},
}


def asked(op: str, attrs: dict[str, Any], *accesses: Access) -> Schedule:
    """Return one collective of x0 and x1, of four, that may write y0 and y1."""
    buffers = [buffer(f"{name}{d}", device=f"d{d}", preexisting=name == "x") for d in range(2) for name in "xy"]
    devices = ("d0", "d1")
    item = Collective(id="c", op=op, attrs=attrs, participants=devices, group="g", accesses=accesses)
    return schedule(buffers, [item])


@pytest.mark.parametrize("op", ATTRS)
def test_what_nobody_reads_changes_nothing_and_what_nobody_writes_is_none(op: str) -> None:
    item = Collective(id="c", op=op, attrs=ATTRS[op], participants=("d0", "d1"), group="g")

    def result(*blocks: int) -> list[Any]:
        made = OPERATIONS[op]([np.full(4, block) for block in blocks], **ATTRS[op], groups=((0, 1),))
        return [each if each is None else np.asarray(getattr(each, "block", each)).tolist() for each in made]

    changed = [result(1, 2) != result(*blocks) for blocks in ((3, 2), (1, 0))]
    assert [position for position in range(2) if changed[position]] == list(readers(item))
    assert op == "send" or [p for p in range(2) if result(1, 2)[p] is not None] == list(writers(item))


@pytest.mark.parametrize(
    ("op", "attrs", "places"),
    [
        ("reduce", {"op": "sum", "root": 1}, ("x0", "x1", "y1")),
        ("broadcast", {"root": 1}, ("x1", "y0", "y1")),
        ("permute", {"pairs": ((1, 0),)}, ("x1", "y0", "y1")),
        ("barrier", {}, ()),
    ],
)
def test_only_who_takes_part_reads_and_writes(op: str, attrs: dict[str, Any], places: tuple[str, ...]) -> None:
    own = [(reads if name[0] == "x" else writes)(name) for name in places]
    made = asked(op, attrs, *own)
    wanted = [stored(f"x{d}", device=f"d{d}") for d in range(2)]
    kept = [name for name in places if name[0] == "y"]
    for name in kept:
        rest = {"device": f"d{name[1]}", "arg": op, "attrs": attrs, "members": ("d0", "d1")}
        wanted.append(node(name, "collective", "x0", "x1", **rest))
    made = schedule(made.buffers, made.items, graph(*wanted, results=kept), {name: name for name in kept})
    found = {each.clause: each for each in judge(made)}
    assert [each for each in found.values() if each.finding == "broken"] == []
    assert found["law.C1"].finding == "held"
    with pytest.raises(ScheduleError, match="an opaque "):
        validate_schedule(asked(op, attrs, *own, writes("y0")))
