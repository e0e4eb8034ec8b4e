"""A damaged schedule file is refused by a named error, or it is judged; nothing else happens."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from conformance.cases.schedule.builders import alu, buffer, constant, given, graph, node, schedule, stored
from conformance.cases.schedule.codec import parse, text
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.qualification.violations import violations
from conformance.specs.schedules import judge

WORDS = ["a", "y", "d1", "float32", "int8", "n", "h", "assign", "reduce", "buf", "copy", "pad", "call", "shl", "min"]
NUMBERS = [0, 1, -1, 2, 4, 10**6, 2**40, 2**62, -(2**62), 2**63 - 1, 2**63, 2**64, -(2**64), True]


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a document with each of its keys."""
    keys = list(document) if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        yield document, key
        yield from places(document[key])


def damage(document: Any, source: random.Random) -> None:
    container, key = source.choice(list(places(document)))
    value = container[key]
    if source.random() < 0.2:
        del container[key]
    elif isinstance(value, list):
        container[key] = source.choice([[], value + value, value[::-1], value[:1]])
    else:
        container[key] = source.choice(WORDS if isinstance(value, str) else NUMBERS)


def test_a_damaged_schedule_is_refused_or_judged() -> None:
    made = [made for made in (each.make() for each in violations()) if isinstance(made, Schedule)]
    documents, source, seen = [text(each) for each in made], random.Random(0), Counter[str]()
    for _ in range(3000):
        document = json.loads(source.choice(documents))
        for _ in range(source.choice([1, 1, 2, 3])):
            damage(document, source)
        try:
            found = judge(parse(json.dumps(document).encode()))
            seen["judged"] += len(found) > 80
        except ScheduleError as error:
            seen[error.clause] += 1
    assert len(seen) > 10, seen
    assert seen["judged"] > 50, seen


def test_storage_that_no_machine_has_is_judged_and_not_made() -> None:
    nodes = stored("a"), constant("1"), alu("y", "add", "a", "1"), node("s", "assign", "a", "y")
    made = schedule((*given("a"), buffer("t", 1 << 38)), [], graph(*nodes, results=["s"]))
    found = {each.clause: each for each in judge(made)}
    assert found["assign.C14"].finding == "broken"
    assert found["law.C1"].finding == "silent"
