"""Wrong rules of types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from conformance.cases.types.axis_type import STATES, AxisType
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.reference.types import casts as right_casts
from conformance.reference.types import check as right_check
from conformance.reference.types import collectives as right
from conformance.reference.types import local as right_local
from conformance.reference.types.collectives import Typing

CASTS: Final = "conformance.reference.types.casts."
CHECK: Final = "conformance.reference.types.check."
COLLECTIVES: Final = "conformance.reference.types.collectives."
LOCAL: Final = "conformance.reference.types.local."

EVERY_CAST: Final = frozenset((old, new) for old in STATES for new in STATES)
one_state, made_varying, right_taken = right_casts.one_state, right_casts.made_varying, right_local.taken
right_written, right_typed, right_by_rule = right_check.check, right_local.local, right_check.by_rule


def _rule(name: str, text: str, **rules: Callable[..., Typing]) -> TypedMutant:
    return TypedMutant(name, text, entries={COLLECTIVES + "RULES": rules})


def _given(rule: Callable[..., Typing], state: Any) -> Callable[..., Typing]:
    """Return the rule that gives another state along its axes."""

    def wrong(given: AxisType, axes: tuple[str, ...], **rest: Any) -> Typing:
        found = rule(given, axes, **rest)
        return Typing(found.taken, found.result.along(axes, state))

    return wrong


def _gather_is(to: str, state: Any) -> Callable[..., Typing]:
    def wrong(given: AxisType, axes: tuple[str, ...], *, to_: Any = None, **rest: Any) -> Typing:
        del to_
        found = right.all_gather(given, axes, **rest)
        return Typing(found.taken, found.result.along(axes, state)) if rest["to"] == to else found

    return wrong


def _first_state(given: AxisType, axes: tuple[str, ...], what: str) -> Any:
    del what
    return given.state(axes[0])


def _always(given: AxisType, axes: tuple[str, ...], what: str, *, automatic: bool) -> AxisType:
    del automatic
    return made_varying(given, axes, what, automatic=True)


def _never(given: AxisType, axes: tuple[str, ...], what: str, *, automatic: bool) -> AxisType:
    del automatic
    return made_varying(given, axes, what, automatic=False)


def _pending_too(given: AxisType, axes: tuple[str, ...], what: str, *, automatic: bool) -> AxisType:
    """Cast unreduced and reduced axes by itself too."""
    pending = [axis for axis in axes if given.state(axis) in ("unreduced", "reduced")]
    return made_varying(given.along(pending, "varying"), axes, what, automatic=automatic)


def _broadcast_casts(given: AxisType, axes: tuple[str, ...], **_: Any) -> Typing:
    cast = made_varying(given, axes, "broadcast", automatic=True)
    return Typing(cast, cast)


def _mean_of_pending(given: AxisType, axes: tuple[str, ...], *, automatic: bool, op: str) -> Typing:
    return right.all_reduce(given, axes, automatic=automatic, op="sum" if op == "mean" else op)


def _mean_uncast(given: AxisType, axes: tuple[str, ...], **rest: Any) -> Typing:
    """Take no account of the other axes that the operand varies along."""
    others = [axis for axis in given.varying if axis not in axes]
    found = right.all_reduce(given.along(others, "invariant"), axes, **rest)
    return Typing(found.taken.along(others, "varying"), found.result.along(others, "varying"))


def _index_uncast(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> right_check.Typed:
    return right_by_rule(replace(program, automatic=True) if step.op == "axis_index" else program, step, operands)


def _scatter_keeps(given: AxisType, axes: tuple[str, ...], **rest: Any) -> Typing:
    found = right.reduce_scatter(given, axes, **rest)
    pending = given.states(axes) == {"unreduced"}
    return Typing(found.taken, found.result.along(axes, "unreduced") if pending else found.result)


def _product(operands: Any) -> AxisType:
    left, other = operands
    pending: AxisType = left if left.unreduced else other
    return pending


def _gather_any(given: AxisType, axes: tuple[str, ...], *, automatic: bool, to: Any, **rest: Any) -> Typing:
    found = right.all_gather(given, axes, automatic=automatic, to="varying" if to == "reduced" else to, **rest)
    return Typing(found.taken, found.result.along(axes, to))


def _first_operand(op: str, cast: Any) -> AxisType:
    """Forget that another operand is reduced."""
    del op
    return cast[0]  # type: ignore[no-any-return]  # the types of operands


def _joined_of_any(op: str, operands: Any, *, automatic: bool) -> list[AxisType]:
    """Cast nothing to what other operands are."""
    del op, automatic
    return list(operands)


def _shown(change: Callable[[TypedProgram, str, AxisType], AxisType]) -> Any:
    def check(program: TypedProgram) -> Mapping[str, AxisType]:
        return {name: change(program, name, given) for name, given in right_written(program).items()}

    return check


def _no_reduced(_: TypedProgram, __: str, given: AxisType) -> AxisType:
    return AxisType(varying=given.varying, unreduced=given.unreduced)


def _untyped_vary(program: TypedProgram, _: str, given: AxisType) -> AxisType:
    return given if program.checked else AxisType(varying=tuple(sorted(program.names)))


def _index_invariant(program: TypedProgram, name: str, given: AxisType) -> AxisType:
    made = {step.output for step in program.steps if step.op == "axis_index"}
    return AxisType() if name in made and program.checked else given


def _rows_of_output(program: TypedProgram, name: str, given: AxisType) -> AxisType:
    """Call what a ragged exchange gives invariant where its output is, but along the axes that it names."""
    step = next((each for each in program.steps if each.output == name and each.op == "ragged_all_to_all"), None)
    if step is None or not program.checked:
        return given
    output = right_written(program)[step.inputs[1]]
    return given.along((axis for axis in given.varying if axis not in (*step.axes, *output.varying)), "invariant")


def _all_mapped(case: TypedCase) -> TypedCase:
    return replace(case, program=replace(case.program, mapped=None))


def _ungrouped(case: TypedCase) -> TypedCase:
    steps = tuple(replace(step, groups=None) if step.op == "all_reduce" else step for step in case.program.steps)
    return replace(case, program=replace(case.program, steps=steps)) if case.program.checked else case


def _scatter_ungrouped(case: TypedCase) -> TypedCase:
    steps = tuple(replace(step, groups=None) if step.op == "reduce_scatter" else step for step in case.program.steps)
    return replace(case, program=replace(case.program, steps=steps)) if case.program.checked else case


SHOWN: Final = "conformance.backends.reference.check"

MUTANTS: Final = (
    TypedMutant("TakesEveryCast", "The table has every cast.", {CASTS + "TABLE": EVERY_CAST}),
    TypedMutant(
        "NoCastToReduced", "A cast is missing.", {CASTS + "TABLE": right_casts.TABLE - {("invariant", "reduced")}}
    ),
    TypedMutant(
        "NoCastFromReduced", "A cast is missing.", {CASTS + "TABLE": right_casts.TABLE - {("reduced", "varying")}}
    ),
    TypedMutant(
        "CastsOfTheFirstAxis", "The state along the first axis stands for all.", {CASTS + "one_state": _first_state}
    ),
    TypedMutant(
        "SumsOfTheFirstAxis", "The first axis of a sum stands for all.", {COLLECTIVES + "one_state": _first_state}
    ),
    TypedMutant(
        "CastsUnasked", "Invariant operands are cast although that is off.", {COLLECTIVES + "made_varying": _always}
    ),
    TypedMutant(
        "LocalCastsUnasked", "Local operands are cast although that is off.", {LOCAL + "made_varying": _always}
    ),
    TypedMutant("NeverCasts", "No collective casts.", {COLLECTIVES + "made_varying": _never}),
    TypedMutant("LocalNeverCasts", "No local operation casts.", {LOCAL + "made_varying": _never}),
    TypedMutant("CastsPending", "Pending sums are cast to varying.", {COLLECTIVES + "made_varying": _pending_too}),
    TypedMutant("LocalCastsPending", "Local operations cast pending sums.", {LOCAL + "made_varying": _pending_too}),
    _rule("SumVaries", "A sum's result varies.", all_reduce=_given(right.all_reduce, "varying")),
    _rule("MeanOfPending", "A mean takes what is pending along other axes.", all_reduce=_mean_of_pending),
    _rule("MeanUncast", "A mean takes what varies elsewhere although casts are off.", all_reduce=_mean_uncast),
    TypedMutant(
        "IndexUncast", "An index is over several axes although casts are off.", {CHECK + "by_rule": _index_uncast}
    ),
    _rule("InvariantGatherVaries", "", all_gather=_gather_is("invariant", "varying")),
    _rule("GatherIsInvariant", "", all_gather=_gather_is("varying", "invariant")),
    _rule("ReducedGatherVaries", "", all_gather=_gather_is("reduced", "varying")),
    _rule("ReducedGatherOfAny", "An invariant operand is gathered to reduced.", all_gather=_gather_any),
    _rule("ScatterKeepsPending", "", reduce_scatter=_scatter_keeps),
    _rule("ScatterIsInvariant", "", reduce_scatter=_given(right.reduce_scatter, "invariant")),
    _rule("PermuteIsInvariant", "", permute=_given(right.moved, "invariant")),
    _rule("ExchangeIsInvariant", "", all_to_all=_given(right.moved, "invariant")),
    _rule("BroadcastCasts", "A broadcast casts by itself.", broadcast=_broadcast_casts),
    _rule("BroadcastIsInvariant", "", broadcast=_given(right.broadcast, "invariant")),
    TypedMutant(
        "EveryOperationIsLinear",
        "A maximum takes pending sums.",
        {LOCAL + "LINEAR": frozenset({"maximum", *right_local.LINEAR})},
    ),
    TypedMutant(
        "NegateIsNotLinear",
        "A negative of a pending sum is refused.",
        {LOCAL + "LINEAR": right_local.LINEAR - {"negate"}},
    ),
    TypedMutant("EveryProductIsPending", "Any factor fits a pending sum.", {LOCAL + "_product": _product}),
    TypedMutant(
        "AnyReduced", "Operands need not be reduced together.", {LOCAL + "_one_reduced": lambda op, operands: None}
    ),
    TypedMutant("FirstOperandDecides", "The first operand's type is the result's.", {CHECK + "local": _first_operand}),
    TypedMutant("OperandsAreNotJoined", "Local operands keep their types.", {CHECK + "taken": _joined_of_any}),
    TypedMutant("ForgetsReduced", "", {SHOWN: _shown(_no_reduced)}),
    TypedMutant(
        "GathersToAnything",
        "A gather gives whatever state it is asked for.",
        {CHECK + "_refuse_word": lambda step: None},
    ),
    TypedMutant("GroupsHaveOneScatter", "A scatter over groups takes contributions to all.", case=_scatter_ungrouped),
    TypedMutant("IndexIsInvariant", "", {SHOWN: _shown(_index_invariant)}),
    TypedMutant("RowsOfOutput", "Rows of others vary where the output does.", {SHOWN: _shown(_rows_of_output)}),
    TypedMutant("EveryAxisIsMapped", "", case=_all_mapped),
    TypedMutant("GroupsHaveOneSum", "", case=_ungrouped),
)
