"""Answers that say something else beside values: facts of lowered operations, where parts are, and no refusal."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.sharded.placement import Layout
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.cases.types.lowered import Lowered
from conformance.qualification.frozen.altered_elements import Alter, at

FACTS: Final[dict[str, tuple[Any, ...]]] = {
    "groups": ((), ((),), ((0,),), ((0, 1),)),
    "reducer": ("", "sum", "max"),
    "global_ids": (False, True),
    "started": (False, True),
    "dones": (0, 1, 2),
    "index": (None, (1, 1, 1), (1, 2, 1)),
    "id": ("", "partition", "replica"),
    "dimensions": ((), (0,), (0, 0, 2)),
    "channel": (False, True),
    "manual": ((), ("i",), ("i", "j")),
}
"""What a lowered operation may say, by field: those too that it leaves out, which have no text to be altered."""


def _lowered(seen: Observation, number: int, made: Lowered) -> Observation:
    return replace(seen, lowered=(*seen.lowered[:number], made, *seen.lowered[number + 1 :]))


def other_fact(seen: Observation, random: Random) -> Observation | None:
    """Return an answer of which one lowered operation says something else in one field."""
    if not seen.lowered:
        return None
    number, field = random.randrange(len(seen.lowered)), random.choice(list(FACTS))
    return _lowered(seen, number, replace(seen.lowered[number], **{field: random.choice(FACTS[field])}))


def exchanged_facts(seen: Observation, random: Random) -> Observation | None:
    """Return an answer of which two lowered operations of one kind each say in one field what the other says."""
    pairs = [
        (one, other, field)
        for one, first in enumerate(seen.lowered)
        for other, second in enumerate(seen.lowered[:one])
        for field in FACTS
        if first.op == second.op and getattr(first, field) != getattr(second, field)
    ]
    if not pairs:
        return None
    one, other, field = random.choice(pairs)
    first, second = seen.lowered[one], seen.lowered[other]
    made = _lowered(seen, one, replace(first, **{field: getattr(second, field)}))
    return _lowered(made, other, replace(second, **{field: getattr(first, field)}))


def _placed(seen: Observation, name: str, device: int, part: Any, box: Any) -> Observation:
    layout, parts = seen.layouts[name], seen.results[name]
    boxes = (*layout.boxes[:device], box, *layout.boxes[device + 1 :])
    return replace(
        seen,
        layouts={**seen.layouts, name: replace(layout, boxes=boxes)},
        results={**seen.results, name: (*parts[:device], part, *parts[device + 1 :])},
    )


def part_of_another(seen: Observation, random: Random) -> Observation | None:
    """Return an answer of which one device has the part of another, and says so."""
    pairs = [
        (name, one, other)
        for name, layout in sorted(seen.layouts.items())
        for one, box in enumerate(layout.boxes)
        for other, another in enumerate(layout.boxes)
        if box != another
    ]
    if not pairs:
        return None
    name, one, other = random.choice(pairs)
    return _placed(seen, name, one, seen.results[name][other], seen.layouts[name].boxes[other])


def shorter_part(seen: Observation, random: Random) -> Observation | None:
    """Return an answer of which one device has a part without its last elements, and says so."""
    long = [
        (name, device, axis)
        for name, layout in sorted(seen.layouts.items())
        for device, box in enumerate(layout.boxes)
        for axis, (begin, end) in enumerate(box or ())
        if end > begin and seen.results[name][device] is not None
    ]
    if not long:
        return None
    name, device, axis = random.choice(long)
    box, array = list(seen.layouts[name].boxes[device] or ()), to_array(at(seen, (name, device)))
    begin, end = box[axis]
    box[axis] = begin, end - 1
    left = np.take(array, range(array.shape[axis] - 1), axis=axis)
    return _placed(seen, name, device, from_array(np.ascontiguousarray(left)), tuple(box))


def answering(names: tuple[str, ...]) -> Alter:
    """Return what gives results by these names where a case was refused, on all ranks or on all but the first."""

    def alter(seen: Observation, random: Random) -> Observation | None:
        if not seen.raised or not names:
            return None
        ranks, one = len(seen.errors), from_array(np.zeros(2, np.float32))
        errors = (seen.errors[0], *(None,) * (ranks - 1)) if random.random() < 0.5 else ()
        results = dict.fromkeys(names, (one,) * ranks)
        layouts = dict.fromkeys(names, Layout(boxes=(((0, 2),),) * ranks))
        return replace(seen, errors=errors, results=results, layouts=layouts)

    return alter


TOLD: Final[dict[str, Alter]] = {
    "another fact": other_fact,
    "facts exchanged": exchanged_facts,
    "part of another": part_of_another,
    "shorter part": shorter_part,
}
"""By a word for each, as ``ALTERATIONS``."""
