"""The suite of steps that compute: before, between and after collectives, and while some are under way."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.elementwise import ARITY, COMPARISONS
from conformance.cases.graph.fit import FOLDS
from conformance.cases.program.computing import ALL_WORDS, words
from conformance.cases.program.computing_words import dtypes
from conformance.judging.clause import Clause
from conformance.judging.computing import RightlyComputed, operands_kept
from conformance.judging.divergences import NARROW_NAN, diverging
from conformance.judging.subject import Subject
from conformance.specs.op import BLOCKWISE, LEGAL, About, about, has, shown, shows, suited
from conformance.specs.suite import Suite

_FREE: Final = (*COMPARISONS, "where")


def unlike_under_way(subject: Subject) -> bool:
    """Speak where something is computed while collectives are under way that differ in more than their operands."""
    if not subject.has("flow", "computed_meanwhile"):
        return False
    held, open_ = dtypes(subject.case), dict[str, tuple[int, object]]()
    for index, step in enumerate(subject.case.program.steps):
        if step.op == "done":
            open_ = {ticket: call for ticket, call in open_.items() if ticket not in step.inputs}
        elif step.start:
            given = tuple(sorted(dtype for name in step.inputs for dtype in held[name]))
            call = step.op, step.axes, step.groups, str(step.attrs), given
            unlike = [at for at, other in open_.values() if other != call]
            if unlike and any(map(subject.shows_step, (*unlike, index))):
                return True
            open_ |= dict.fromkeys(step.outputs, (index, call))
    return False


def flows(id: str, text: str, source: str, *happens: str) -> Clause:
    """Return a clause about the results of programs in which one of ``happens`` does."""
    return shown(id, text, source, shows("flow", *happens))


def computed(id: str, text: str, source: str, when: About, *named: str) -> Clause:
    """Return a *must* clause about what steps compute, where it is the first result that is wrong."""
    return Clause(
        id,
        "must",
        text,
        lambda subject: subject.legal and when(subject),
        RightlyComputed(frozenset(named)),
        source,
        needs=(LEGAL, *when.needs),
    )


def of_steps(id: str, text: str, source: str, *named: str) -> Clause:
    """Return a clause about the results of steps of these words."""
    return computed(id, text, source, has("computes", *named), *named)


def several_right(subject: Subject) -> bool:
    """Speak about programs that compute and in which some element has several right values."""
    return bool(subject.open) and subject.has("computes", *ALL_WORDS)


CLAUSES: Final[tuple[Clause, ...]] = (
    Clause(
        "computing.C1",
        "must",
        "A step that computes changes none of its operands: inputs keep every byte, and a buffer or view that it reads "
        "keeps its elements.",
        lambda subject: subject.legal and subject.has("computes", *ALL_WORDS),
        operands_kept,
        "tinygrad.lazy; stablehlo.operations",
        needs=(LEGAL,),
    ),
    flows(
        "computing.C2",
        "A collective whose operand a step before it computed reads what that step gives: its result is that of the "
        "collective on the computed blocks, and not one that is computed from the collective's result.",
        "tinygrad.schedule",
        "computed_before",
    ),
    flows(
        "computing.C3",
        "A step that computes with the result of a collective, or with what a done returns, computes with that result "
        "and with no earlier or later content of its storage.",
        "tinygrad.schedule",
        "computed_after",
    ),
    flows(
        "computing.C4",
        "A collective whose operand was computed from the result of an earlier collective reads it after that "
        "collective and after the steps between have computed it.",
        "tinygrad.schedule",
        "computed_between",
    ),
    flows(
        "computing.C5",
        "A step that computes while a collective is under way, or a block that was sent, changes nothing of what the "
        "done or the recv returns.",
        "jax.start",
        "computed_meanwhile",
    ),
    shown(
        "computing.C6",
        "Collectives that are under way at once and differ in operation, dtype, reduction, groups or attributes return "
        "the results of their own operations, also where steps compute between their starts and their dones.",
        "jax.start",
        about(unlike_under_way, flow=("computed_meanwhile",)),
    ),
    flows(
        "computing.C7",
        "A started collective reads its operand as it is at the start, also where what a step computes afterwards is "
        "written over the operand before the done.",
        "torch.inductor.comm_lowering: _all_reduce",
        "computed_over",
    ),
    flows(
        "computing.C8",
        "What a step computed does not change when storage that it read is overwritten or freed.",
        "tinygrad.lazy: LazyBuffer.schedule",
        "old_computed",
    ),
    computed(
        "computing.C9",
        "In a program with steps that compute, an element of which several values are right, for the order in which "
        "operations round, is within the bound that `graph.C3` has for the program's steps and collectives as nodes of "
        "a graph.",
        "opencl.accuracy; ieee754",
        about(several_right),
    ),
    of_steps(
        "computing.C10",
        "An `alu` on integers or bools gives, element by element, what its operation gives in a graph (`graph.C7`): "
        "integers wrap around, and a sum of bools is their or.",
        "stablehlo.operations: add, multiply, divide, remainder; numpy.integers",
        *words(*(name for name in ARITY if name not in _FREE), kinds=("bool", "integer")),
    ),
    of_steps(
        "computing.C11",
        "An `alu` on floats or complex numbers gives, element by element, the exact result of its operation rounded "
        "once to the dtype of the operands, as in a graph (`graph.C8`).",
        "ieee754: 4.3.1, 5.4.1",
        *words(*(name for name in ARITY if name not in _FREE), kinds=("float", "complex")),
    ),
    of_steps(
        "computing.C12",
        "An `alu` that compares gives bools, as in a graph (`graph.C9`): a NaN is equal to no value, and zeros of both "
        "signs are equal.",
        "ieee754: 5.11; stablehlo.operations: compare",
        *words(*COMPARISONS),
    ),
    diverging(
        of_steps(
            "computing.C13",
            "The `alu` step `where` gives the bits of the one of its two elements that the condition chooses.",
            "stablehlo.operations: select",
            *words("where"),
        ),
        NARROW_NAN,
    ),
    of_steps(
        "computing.C14",
        "A `cast` gives the values of its operand in another dtype, converted as in a graph (`graph.C11`).",
        "stablehlo.operations: convert; ieee754: 5.4.2",
        *words("cast"),
    ),
    of_steps(
        "computing.C15",
        "A `fold` combines the elements of each rank's block along the axes that it names, each exactly once, and "
        "leaves those axes out of the shape. With `acc` it computes in that dtype, or of floats in a wider one, and "
        "rounds once, at the end.",
        "stablehlo.operations: reduce",
        *words(*(f"fold {name}" for name in FOLDS)),
    ),
    of_steps(
        "computing.C16",
        "A `dot` gives the sums of the products along the last axis of the first operand and the first axis of the "
        "second. With `acc` products and sums are computed in that dtype, or of floats in a wider one, and rounded "
        "once to the operands', at the end.",
        "stablehlo.operations: dot_general",
        *words("dot"),
    ),
)

SUITE = Suite(
    "computing",
    "Steps that compute on each rank alone, before, between and after collectives, and while some are under way.",
    ops=BLOCKWISE,
    clauses=tuple(suited(clause, "computing", "computes", ALL_WORDS) for clause in CLAUSES),
)
