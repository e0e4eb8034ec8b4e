"""The meaning of an ``spmd`` program: its steps, run eagerly in list order on every rank's blocks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, get_type_hints

import msgspec

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.program.effects import names
from conformance.cases.program.program import COMPUTING, EFFECTS, Attr, Groups, Program, Step, rank_groups
from conformance.cases.program.rank_faults import check_trouble
from conformance.cases.tensor.dtypes import Array
from conformance.reference.divergent_ranks import Meeting
from conformance.reference.effects import Effects, computed, perform
from conformance.reference.groups import one_shape, partition
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.operations.send import Token
from conformance.reference.rejection import Rejected

Operation = Callable[..., Any]


def _parameters(operation: Operation) -> list[inspect.Parameter]:
    return list(inspect.signature(operation).parameters.values())


def _attributes(operation: Operation) -> dict[str, Any]:
    hints = get_type_hints(operation)
    return {p.name: hints[p.name] for p in _parameters(operation) if p.kind is p.KEYWORD_ONLY and p.name != "groups"}


ATTRIBUTES: Final = {name: _attributes(operation) for name, operation in OPERATIONS.items()}
"""The attribute names and types of each operation, read off its reference function."""


def flags(op: str) -> tuple[str, ...]:
    """Return the attributes of an operation that are yes or no, but for that of pieces which keep their axis."""
    return tuple(name for name, hint in ATTRIBUTES[op].items() if hint is bool and name != "tiled")


DEFAULTS: Final = {
    name: {p.name: p.default for p in _parameters(operation) if p.default is not p.empty}
    for name, operation in OPERATIONS.items()
}
"""The attributes a step may leave out, and what they are then."""


def check_step(step: Step) -> dict[str, Attr]:
    """Return the attributes of ``step`` in their declared types, with defaults filled in.

    Raise ``CaseError`` when the step is malformed: no such operation, the wrong number of values, or
    attributes that are missing, surplus or of the wrong type. A malformed step has no verdict; an illegal
    one is rejected by its clause.
    """
    if step.op not in OPERATIONS:
        raise CaseError(f"unknown operation {step.op!r}; known are {', '.join(sorted(OPERATIONS))}")
    wanted, defaults = ATTRIBUTES[step.op], DEFAULTS[step.op]
    if not set(wanted) - set(defaults) <= set(step.attrs) <= set(wanted):
        raise CaseError(f"{step.op} takes the attributes {sorted(wanted)}, got {sorted(step.attrs)}")
    _check_arity(step)
    try:
        pairs = msgspec.convert(step.attrs["pairs"], Groups) if "pairs" in step.attrs else ()
        if strange := [pair for pair in pairs if len(pair) != 2]:
            raise CaseError(f"{step.op} has pairs of a source and a destination, got {strange[0]}")
        return defaults | {name: msgspec.convert(value, wanted[name]) for name, value in step.attrs.items()}
    except msgspec.ValidationError as error:
        raise CaseError(f"{step.op} has an attribute of the wrong type: {error}") from None


def _check_arity(step: Step) -> None:
    operands, outputs = TABLE[step.op].operands, int(TABLE[step.op].result != "nothing")
    right = len(step.inputs) == len(step.outputs) if operands == 1 else len(step.inputs) == operands
    if not right or (operands != 1 and len(step.outputs) != outputs):
        raise CaseError(f"{step.op} takes {operands} values a result, got {len(step.inputs)} and {len(step.outputs)}")


Watch = Callable[[Step, list[Any]], None]
"""Called with each collective and what it reads, before anything comes of it."""


def evaluate(case: Case, watch: Watch | None = None) -> dict[str, list[Array | None]]:
    """Return the blocks, one for each rank, of every result of the program; ``None`` where a rank has none.

    Raise ``Rejected`` when a step breaks a clause, ``ValueError`` when the program is malformed. Where ranks go their
    own ways ``watch`` is not called.
    """
    names(case)
    check_trouble(case)
    return run(case, case.blocks(), OPERATIONS, watch=watch)


def run(
    case: Case,
    inputs: Mapping[str, list[Array]],
    operations: Mapping[str, Operation],
    effects: Effects | None = None,
    meeting: type[Meeting] = Meeting,
    watch: Watch | None = None,
) -> dict[str, list[Array | None]]:
    """Return the results of a program on ``inputs`` by the given operations; raise as ``evaluate`` does.

    Storage and waiting are the business of ``effects``, eager by default, and ranks that go their own ways that of
    ``meeting``.
    """
    program, effects = case.program, effects or Effects()
    if case.troubled:
        return meeting(case, check_step, partial(_groups, program), partial(_alone, operations)).results(inputs)
    values: dict[str, Any] = dict(inputs)
    for index, step in enumerate(program.steps):
        if step.op in EFFECTS or step.op in COMPUTING:
            act = perform if step.op in EFFECTS else computed
            made = act(effects, f"step {index} ({step.op})", step, [values[name] for name in step.inputs])
        else:
            if watch is not None:
                watch(step, [values[name] for name in step.inputs])
            call = partial(_collective, program, step, values, operations, effects)
            made = effects.start(call, step) if step.start else call()
        values.update(zip(step.outputs, made, strict=False))
    return {name: values[name] for name in program.results}


def _collective(
    program: Program, step: Step, values: Mapping[str, Any], operations: Mapping[str, Operation], effects: Effects
) -> list[Any]:
    """Return the outputs of a collective: all operands are read before any target is written."""
    attrs, groups = check_step(step), _groups(program, step)
    operands = [values[name] for name in step.inputs]
    for operand in operands if TABLE[step.op].differ == "nothing" else ():
        one_shape(operand)
    if not TABLE[step.op].operands:
        partition(groups, program.world)  # which an operation without operands cannot know
    results = _results(operations, step, attrs, operands, groups)
    # One that takes several writes its result over the one that is like it, if over any.
    over = TABLE[step.op].over or 0
    sources = operands if TABLE[step.op].operands == 1 else [operands[over] if operands else []] * len(results)
    fresh = [effects.fresh(result, source) for result, source in zip(results, sources, strict=True)]
    if not step.into:
        return fresh
    targets = [values[name] for name in step.into]
    effects.check(step.op, targets, fresh)
    return [effects.write(*parts) for parts in zip(targets, fresh, sources, strict=True)]


def _results(
    operations: Mapping[str, Operation], step: Step, attrs: dict[str, Attr], operands: list[Any], groups: Groups
) -> list[Any]:
    if TABLE[step.op].operands != 1:
        return [operations[step.op](*operands, **attrs, groups=groups)][: len(step.outputs)]
    if step.idle:
        if any(isinstance(block, Token) for operand in operands for block in operand):
            raise Rejected("recv.C4", "what was sent along axes cannot be received over none")
        return [list(operand) for operand in operands]
    return [operations[step.op](operand, **attrs, groups=groups) for operand in operands]


def _alone(
    operations: Mapping[str, Operation], step: Step, attrs: dict[str, Attr], operands: list[Any], size: int
) -> list[Any]:
    """Return the results of a collective in a world of its own, of ``size`` ranks."""
    return _results(operations, step, attrs, operands, (tuple(range(size)),))


def _groups(program: Program, step: Step) -> Groups:
    """Return the ranks that meet in a step, in member order (``collective.C22``, ``C23``)."""
    names = [axis.name for axis in program.mesh]
    for name in step.axes:
        if name not in names:
            raise Rejected("collective.C22", f"the mesh has no axis {name!r}; it has {', '.join(names)}")
    if len(set(step.axes)) != len(step.axes):
        raise Rejected("collective.C23", f"axes {list(step.axes)} name one axis twice")
    return rank_groups(program.mesh, step.axes, step.groups)
