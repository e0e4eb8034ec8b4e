"""Plain calls of each collective: one step, one operand and few features, for backends that claim little."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.layout import LAYOUTS, Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate.tables.calls import CALLS
from conformance.generate.tables.programs import FACTORS, case_of
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import ATTRIBUTES, DEFAULTS, evaluate

DTYPES: Final = ("float32", "int32", "float64", "int64", "bool")
"""What most implementations have."""

REDUCTIONS: Final = ("sum", "max", "min", "product")

SETTINGS: Final = (
    {"mesh": (2,), "values": "plain"},
    {"mesh": (3,), "values": "ends"},
    {"mesh": (4,), "groups": "halves", "values": "zeros"},
    {"mesh": (4,), "groups": "strided", "rows": 3},
    {"mesh": (3,), "groups": "unsorted", "values": "special"},
    {"mesh": (2, 2), "axes": "last"},
    {"mesh": (1,), "values": "plain"},
    {"mesh": (2,), "rows": 0},
)
"""Where and on what a call is made; what is not said is the plainest there is."""

NOTHING: Final[tuple[Groups | None, ...]] = (None, ((0,), (1,)), ((1, 0),), ((0, 0),), ((0,),), ((),), ((0, 7),))
"""Groups of calls on nothing, right and wrong."""


def plain_calls() -> Iterator[Case]:
    """Yield legal calls of every collective that makes a block of a block, on every dtype and with every reduction."""
    plainest: dict[str, Any] = {name: levels[0] for name, levels in FACTORS.items()}
    for setting in SETTINGS:
        for call in CALLS:
            for dtype in DTYPES:
                for reduction in REDUCTIONS if call.reduces else REDUCTIONS[:1]:
                    row = plainest | {"call": call, "dtype": dtype, "reduction": reduction} | setting
                    case = case_of(row)
                    if case is not None:
                        yield case


def calls_on_nothing() -> Iterator[Case]:
    """Yield calls of every collective that is given no operand where it could have one, in right and wrong groups."""
    for op in OPERATIONS:
        if TABLE[op].operands != 1:
            continue
        for groups in NOTHING:
            attrs = {name: _plainest(name, hint) for name, hint in _needed(op)}
            step = Step(op=op, inputs=(), outputs=(), axes=("i",), groups=groups, attrs=attrs)
            case = Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=()), inputs={})
            for each in (case, replace(case, program=replace(case.program, mesh=(Axis("i", 1),)))):
                if _meant(each):
                    yield each


def _plainest(name: str, hint: Any) -> Attr:
    if name == "dtype":
        return DTYPES[0]
    if hint is bool:
        return False
    return 0 if hint is int else () if "tuple" in str(hint) else "sum"


def uneven_calls() -> Iterator[Case]:
    """Yield exchanges of uneven parts between two and three ranks: right ones, and with sizes that do not fit."""
    for members in (2, 3):
        for sends in product(product((0, 1, 2), repeat=members), repeat=members):
            if len({sum(row) for row in sends}) > 1 or (members > 2 and max(max(sends)) > 1):
                continue
            right = tuple(zip(*sends, strict=True))
            more = ((right[0][0] + 1, *right[0][1:]), *right[1:])
            for receives, rows in ((right, 0), (more, 0), (right, 1), (right[::-1], 0)):
                attrs: dict[str, Attr] = {"sends": sends, "receives": receives}
                step = Step(op="all_to_all_uneven", inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs)
                blocks = tuple(
                    from_array(np.arange((sum(sends[0]) + rows) * 2, dtype=np.int32).reshape(-1, 2) + 10 * rank)
                    for rank in range(members)
                )
                program = Program(mesh=(Axis("i", members),), steps=(step,), results=("y",))
                layouts: tuple[Layout, ...] = LAYOUTS[:1] * members  # contiguous
                case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=layouts)})
                if _meant(case):
                    yield case


def _needed(op: str) -> list[tuple[str, Any]]:
    return [(name, hint) for name, hint in ATTRIBUTES[op].items() if name not in DEFAULTS[op]]


def _meant(case: Case) -> bool:
    """Return whether a case is well formed, be it legal or not."""
    try:
        evaluate(case)
    except Rejected:
        return True
    except (ValueError, TypeError):
        return False
    return True
