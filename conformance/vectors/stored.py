"""Cases of every dialect as text, and back: no word in a case says which dialect it is of."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import msgspec

from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.types.typed_case import TypedCase

Form = Literal["program", "graph", "sharded", "typed", "schedule of a program", "schedule of a graph"]
"""What a case is: a program of collectives, a graph in rounds, …, or what a schedule is asked for."""

FORMS: Final[tuple[Form, ...]] = get_args(Form)

_TYPES: Final[dict[Form, Any]] = {
    "program": Case,
    "graph": GraphCase,
    "sharded": ShardedCase,
    "typed": TypedCase,
    "schedule of a program": Case,
    "schedule of a graph": Graph,
}


def form_of(case: object) -> Form:
    """Return what a case is; raise ``TypeError`` for anything else."""
    if isinstance(case, ScheduleCase):
        return "schedule of a program" if isinstance(case.of, Case) else "schedule of a graph"
    for form in FORMS[:4]:
        if isinstance(case, _TYPES[form]):
            return form
    raise TypeError(f"{type(case).__name__} is no case")


def written(case: object) -> bytes:
    """Return a case as JSON, the same text for the same case."""
    return msgspec.json.encode(case.of if isinstance(case, ScheduleCase) else case, order="deterministic")


def read(form: Form, text: bytes | msgspec.Raw) -> Any:
    """Return the case of a form that ``written`` made the text of; raise ``msgspec.DecodeError`` for any other text."""
    case = msgspec.json.decode(text, type=_TYPES[form])
    return ScheduleCase(of=case) if form.startswith("schedule") else case
