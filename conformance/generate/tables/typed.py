"""The table of typed programs: casts, calls and local steps in a row, over axes and levels, for each question."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Attr, Axis, Groups
from conformance.cases.tensor.dtypes import kind
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.starts import no_start, no_such_start
from conformance.cases.types.typed_case import Level, TypedCase, given_shape
from conformance.cases.types.typed_program import LOCAL, TypedInput, TypedProgram, TypedStep
from conformance.cases.types.validate import validate_case
from conformance.generate.table import Row, Table
from conformance.generate.tables.programs import axes_of, groups_of
from conformance.generate.tables.typed_calls import CALLS, Call
from conformance.generate.types.exactness import EXACT, bits, blocks_of, has_mean, orders, rounds, shapes_of
from conformance.reference.rejection import Rejected
from conformance.reference.transforms.meaning import typed_meaning
from conformance.reference.transforms.pairing import cotangent_type
from conformance.reference.types.check import paired_types
from conformance.reference.types.ill_typed import IllTyped


class Cast(NamedTuple):
    """A cast before a call, to a state."""

    to: str


SECOND: Final = tuple(
    {(call.op, call.attrs(2).get("op")): call for call in reversed(CALLS) if call.op != "cast"}.values()
)

FACTORS: Final[Mapping[str, Any]] = {
    "asked": ("types", "transposed", "pushed", "batched", "lowered", "compiled"),
    "before": ("none", *(Cast(to) for to in ("varying", "unreduced", "reduced", "invariant")), "negate", "sum"),
    "call": (*(call for call in CALLS if call.op not in ("cast", "ragged_all_to_all")), None),
    "then": (None, *LOCAL, *(call for call in SECOND if call.op != "ragged_all_to_all")),
    "with": ("another", "itself", "the operand"),
    "given": ("varying", "invariant", "varying along the first", "varying along the last"),
    "mesh": ((2, 2), (4,), (2, 3), (3,), (1, 2), (1,)),
    "axes": ("all", "last", "first", "turned", "level", "level and mesh"),
    "groups": ("none", "halves", "strided", "uneven", "singletons"),
    "dtype": ("int32", "float32", "float64", "bfloat16", "int64", "complex64", "float16"),
    "checked": (True, False),
    "automatic": (True, False),
    "start": (False, True),
    "levels": (1, 2),
    "mapped": ("last axis", "first axis", "one alone"),
}


def case_of(row: Row) -> TypedCase | None:
    """Return the case of a row, ``None`` where it is none that is well typed."""
    mesh = tuple(Axis(name, size) for name, size in zip("ijk", row["mesh"], strict=False))
    levels = tuple(Axis(name, size) for name, size in zip("pq", (2, 3)[: row["levels"]], strict=False))
    levels = levels if row["asked"] == "batched" else ()
    if not levels and (row["levels"] > 1 or row["mapped"] != "last axis"):
        return None
    program = _program(row, mesh, levels)
    if program is None or not _exact(program, row, (*mesh, *levels)):
        return None
    try:
        return _asked(program, row, levels)
    except (CaseError, IllTyped, Rejected, ValueError):
        return None


def _program(row: Row, mesh: tuple[Axis, ...], levels: tuple[Axis, ...]) -> TypedProgram | None:
    axes = _axes(row["axes"], mesh, levels)
    count = prod(axis.size for axis in (*mesh, *levels) if axis.name in axes)
    groups = groups_of(row["groups"], count)
    if not axes or groups == ():
        return None
    members = min(map(len, groups)) if groups else count
    call: Call | None = row["call"]
    then = row["then"]
    if (call is None and then is None) or (call is None and (row["groups"] != "none" or row["start"])):
        return None
    first = call if call is not None else then if isinstance(then, Call) else None
    shape = first.shape(members) if first is not None else (2, 2)
    names = [axis.name for axis in mesh]
    steps: list[TypedStep] = []
    at = "x"
    if row["before"] != "none":
        at = _before(steps, row["before"], axes, at)
    if call is not None:
        at = _called(steps, call, axes, groups, members, at, start=row["start"])
        if not at:
            return None
    if then is not None:
        at = _then(steps, then, axes, groups, members, at, row["with"])
    varying = {
        "varying": names,
        "invariant": [],
        "varying along the first": names[:1],
        "varying along the last": names[-1:],
    }[row["given"]]
    given = TypedInput(dtype=row["dtype"], shape=tuple(shape), varying=tuple(sorted(varying)))
    inputs = {"x": given}
    if any("w" in step.inputs for step in steps):
        inputs["w"] = given
    return TypedProgram(
        mesh=mesh,
        inputs=inputs,
        steps=tuple(steps),
        results=(at,),
        checked=row["checked"],
        automatic=row["automatic"],
    )


def _axes(word: str, mesh: tuple[Axis, ...], levels: tuple[Axis, ...]) -> tuple[str, ...]:
    names = tuple(axis.name for axis in mesh)
    if word in ("level", "level and mesh"):
        return () if not levels else (levels[0].name,) if word == "level" else (levels[0].name, names[-1])
    return axes_of(word, names)


def _before(steps: list[TypedStep], word: str | Cast, axes: tuple[str, ...], at: str) -> str:
    if isinstance(word, Cast):
        steps.append(TypedStep(op="cast", inputs=(at,), output="c", axes=axes, attrs={"to": word.to}))
    elif word == "sum":
        steps.append(TypedStep(op="all_reduce", inputs=(at,), output="c", axes=axes[-1:], attrs={"op": "sum"}))
    else:
        steps.append(TypedStep(op=word, inputs=(at,), output="c"))
    return "c"


def _called(
    steps: list[TypedStep],
    call: Call,
    axes: tuple[str, ...],
    groups: Groups | None,
    members: int,
    at: str,
    *,
    start: bool,
) -> str:
    attrs = dict(call.attrs(members))
    local = call.op in LOCAL
    step = TypedStep(
        op=call.op, inputs=(at,), output="y", axes=() if local else axes, attrs=attrs, groups=None if local else groups
    )
    if not start:
        steps.append(step)
        return "y"
    if no_start(call.op, attrs) is not None or no_such_start(call.op, attrs) is not None:
        return ""
    steps.append(replace(step, output="t", start=True))
    steps.append(TypedStep(op="done", inputs=("t",), output="y", attrs={"of": call.op}))
    return "y"


def _then(
    steps: list[TypedStep], then: Any, axes: tuple[str, ...], groups: Groups | None, members: int, at: str, other: str
) -> str:
    if isinstance(then, Call):
        step = TypedStep(
            op=then.op, inputs=(at,), output="z", axes=axes, attrs=dict(then.attrs(members)), groups=groups
        )
        steps.append(step if then.op not in LOCAL else replace(step, axes=(), groups=None))
        return "z"
    second = {"another": "w", "itself": at, "the operand": "x"}[other]
    inputs = (at, second) if LOCAL[then] == 2 else (at,)
    attrs: dict[str, Attr] = {"axis": 0} if then == "sum" else {}
    steps.append(TypedStep(op=then, inputs=inputs, output="z", attrs=attrs))
    return "z"


def _exact(program: TypedProgram, row: Row, mesh: tuple[Axis, ...]) -> bool:
    """Return whether no operation of a program rounds in its dtype."""
    dtype, back = row["dtype"], row["asked"] in ("transposed", "pushed")
    if kind(dtype) != "float" and (back or has_mean(program)):
        return False
    if kind(dtype) == "complex" and orders(program):
        return False
    if rounds(replace(program, mesh=mesh)):
        return False
    try:
        return bits(replace(program, mesh=mesh), dtype, back=back) <= EXACT[dtype]
    except (ValueError, IllTyped, Rejected, KeyError, IndexError):
        return False


def _asked(program: TypedProgram, row: Row, levels: tuple[Axis, ...]) -> TypedCase | None:
    case = TypedCase(program=program, inputs={})
    if levels:
        ranks = {name: len(given.shape) for name, given in program.inputs.items()}
        names = list(ranks)[: 1 if row["mapped"] == "one alone" else None]
        places: list[Level] = []
        for inner, level in enumerate(reversed(levels)):
            inputs = {name: 0 if row["mapped"] == "first axis" else ranks[name] + inner for name in names}
            places.insert(0, Level(name=level.name, size=level.size, inputs=inputs))
        case = replace(case, batch=tuple(places))
    case = replace(
        case,
        inputs={
            name: blocks_of(program.mesh, AxisType(varying=given.varying), given_shape(case, name), given.dtype, at)
            for at, (name, given) in enumerate(program.inputs.items())
        },
    )
    if row["asked"] == "transposed":
        given = cotangent_type(paired_types(program)[program.results[0]])
        shape = shapes_of(program)[program.results[0]]
        made = {program.results[0]: blocks_of(program.mesh, given, shape, row["dtype"], 5)}
        case = replace(case, cotangents=made)
    elif row["asked"] == "pushed":
        made = {
            name: blocks_of(program.mesh, AxisType(varying=each.varying), each.shape, each.dtype, at + 6)
            for at, (name, each) in enumerate(program.inputs.items())
        }
        case = replace(case, tangents=made)
    else:
        case = replace(case, lowered=row["asked"] == "lowered", compiled=row["asked"] == "compiled")
    validate_case(case)
    meaning = typed_meaning(case)
    return case if meaning.refused is None else None


TABLE_OF_TYPED: Final = Table("typed programs", FACTORS, case_of)
"""Every two levels that can meet do, in some case."""
