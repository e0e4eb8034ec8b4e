"""How much work a typed case asks for: what each step costs the members, for values, types and transposes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cases.program.value_bytes import members_of
from conformance.cases.program.work import ELEMENT, rounding
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import LOCAL
from conformance.cases.types.value_bytes import members_in, mesh_of, typed_extents
from conformance.cases.work import NamedAmount

MEMBER: Final = 4_000
"""Steps of a member in a step: 256 steps on 1,024 members take 8 s."""


def typed_work(case: TypedCase) -> Iterator[NamedAmount]:
    """Yield what a case asks for: each step in turn, three times as much where something is pulled back or pushed."""
    times = 3 if case.cotangents or case.tangents else 1
    mesh, members = mesh_of(case), members_in(case)
    for number, (step, given, made) in enumerate(typed_extents(case)):
        steps = MEMBER * members + ELEMENT * (sum(each.elements for each in given) + made.elements)
        if step.op not in LOCAL and step.op not in ("cast", "done"):
            met = members_of(mesh, step.axes, step.groups)
            steps += sum(rounding(step.op, step.attrs, each, met, members) for each in given)
        yield f"step {number} ({step.op})", times * steps
