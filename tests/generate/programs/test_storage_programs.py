"""Programs about storage and waiting: that rare deeds are drawn, and what is asked of a start that nobody waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program.effects import names
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.generate.suites import DOMAINS
from conformance.judging.subject import Subject
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import meaning
from conformance.specs import clauses_of


def storage(case: Case) -> Iterator[str]:
    """Yield which rare things happen in a program."""
    made = {step.outputs[0]: step for step in case.program.steps if step.op == "view"}
    started = {name for step in case.program.steps if step.start for name in step.into}
    table, copied = names(case), set[str]()
    yield from (
        f"{count} in place" for count in Counter(step.into for step in case.program.steps if in_place(step)).values()
    )
    for step in case.program.steps:
        copied |= set(step.inputs[step.op == "assign" :]) & table.keys() if step.op in ("copy", "assign") else set()
        if (
            step.op == "assign"
            and step.inputs[0] in made
            and any(table[step.inputs[0]].meets(table[n]) for n in copied)
        ):
            yield "read and written by way of a view"
        if step.op == "view":
            yield from ["view of a view"] if step.inputs[0] in made else []
            yield from ["view without axes"] if not step.attrs["start"] else []
            yield from ["order"] if step.attrs.get("order") else []
        elif step.op == "assign" and step.inputs[0] in made and table[step.inputs[0]].meets(table[step.inputs[1]]):
            yield "moved"
        elif step.op == "free" and step.inputs[0] in started:
            yield "target freed"


def in_place(step: Step) -> bool:
    return bool(step.into) and step.inputs == step.into and not step.start


AGAIN = {"2 in place", "3 in place", "read and written by way of a view"}


@pytest.mark.parametrize(
    ("suite", "rare"),
    [
        ("aliasing", {"view of a view", "view without axes", "order", "moved", *AGAIN}),
        ("async", {"view of a view", "view without axes", "order", "target freed"}),
    ],
)
def test_rare_storage_is_drawn(suite: str, rare: set[str]) -> None:
    found: list[Case] = []
    for seed in range(3):
        draw_cases(DOMAINS[suite]["broadcast"], 75, seed, found.append)
    assert rare <= {word for case in found for word in storage(case)}


def asked(*steps: Step, results: tuple[str, ...]) -> list[str]:
    """Return which of two clauses about what is refused speak of a program."""
    operand = Operand(blocks=(from_array(np.ones(2, np.int32)),) * 2, layouts=("contiguous",) * 2)
    subject: Subject = meaning(
        Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=results), inputs={"x": operand})
    )
    wanted = ("collective.C22", "aliasing.C20")
    return sorted(
        (clause.id for clause in clauses_of("all_reduce") if clause.id in wanted and clause.when(subject)), reverse=True
    )


def test_a_start_without_meaning_that_nobody_waits_for_need_not_be_refused() -> None:
    wrong = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("nowhere",), attrs={"op": "sum"})
    start = Step(op="all_reduce", inputs=("x",), outputs=("t",), axes=("nowhere",), attrs={"op": "sum"}, start=True)
    copy = Step(op="copy", inputs=("x",), outputs=("c",), axes=())
    done = Step(op="done", inputs=("t",), outputs=("z",), axes=())
    assert asked(start, copy, results=("c",)) == []
    assert asked(start, done, results=("z",)) == asked(start, wrong, results=("y",)) == ["collective.C22"]


def test_what_is_written_before_a_start_without_meaning_is_waited_for_may_stay_written() -> None:
    buffer = Step(op="buffer", inputs=("x",), outputs=("b",), axes=())
    start = Step(op="all_reduce", inputs=("b",), outputs=("t",), axes=("nowhere",), attrs={"op": "sum"}, start=True)
    assign = Step(op="assign", inputs=("b", "x"), outputs=(), axes=())
    done = Step(op="done", inputs=("t",), outputs=("y",), axes=())
    assert asked(buffer, start, assign, done, results=("y",)) == ["collective.C22"]
    assert asked(buffer, start, done, assign, results=("y",)) == ["collective.C22", "aliasing.C20"]
