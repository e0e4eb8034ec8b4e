"""What typed programs are drawn from: meshes, inputs, and chains of steps of which some are ill-typed.

A program that is to be mapped over levels is well-typed, and its steps name levels as they name mesh axes.

A step takes values that are there, and is drawn again until it is well-typed. Some programs have one step more, drawn
again until a rule refuses it that was drawn before, so that every rule is met from both sides as often as the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from itertools import repeat
from typing import Any, Final

from msgspec.structs import replace

from conformance.cases.program.program import Axis
from conformance.cases.types.starts import DONES, STARTS
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.grow import grow
from conformance.generate.types.drawn_steps import Shapes, drawn_step
from conformance.generate.types.grammar import (
    ACROSS,
    LONGEST,
    MANIFOLD,
    NAMES,
    NEVER,
    PENDING,
    TRIES,
    TRIES_OF_A_RULE,
    TYPING,
    WAYS,
    WIDE,
    Grammar,
)
from conformance.generate.types.steps import Shape
from conformance.reference.transforms.batching import over_mesh
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.specs.types.starts import name_of_start

RULES: Final = (*WAYS, *MANIFOLD)
"""The rules that refuse, each as often as it is drawn for."""


@dataclass
class TypedChain:
    """A program in the making, the ``shapes`` of its values, and what its steps are drawn from."""

    draw: Draw
    grammar: Grammar
    program: TypedProgram
    shapes: Shapes
    tried: int = 0
    """How many values were drawn, those included of which none was well-typed."""

    def named(self) -> str:
        """Return a name for the next value."""
        self.tried += 1
        return f"v{self.tried - 1}"

    def copy(self) -> TypedChain:
        """Return a chain that goes on from here by itself."""
        return replaced(self, shapes=dict(self.shapes))


def longer(chain: TypedChain, output: str, **other: Any) -> None:
    """Let a chain grow by a well-typed step of its grammar, or of one with ``other`` fields, if one is found."""
    grammar = chain.grammar._replace(**other)
    for _ in range(TRIES):
        found = drawn_step(chain.draw, chain.program, grammar, chain.shapes, output)
        if found is None:
            continue
        program = with_step(chain.program, found[0])
        if rule_of(over_mesh(program, [level.name for level in grammar.levels])) is None:
            chain.program, chain.shapes[output] = program, found[1]
            return


STEPS: Final[Mapping[str, Callable[[TypedChain], None]]] = {
    "any": lambda chain: longer(chain, chain.named()),
    "cast": lambda chain: longer(chain, chain.named(), ops=("cast",)),
    "all_reduce": lambda chain: longer(chain, chain.named(), ops=("all_reduce",), starts=NEVER),
    "started": lambda chain: longer(chain, "under way", ops=DONES, starts=1),
}
"""What a chain grows by. An operation fits values of some types alone, so that ``any`` step draws its values first."""


@choices.composite
def typed_programs(draw: Draw, grammar: Grammar = TYPING) -> TypedProgram:
    """Draw a program of up to ``LONGEST`` steps, each of which gives a result."""
    if draw(choices.within(grammar.refused, "refused", lambda refused: "some" if refused else "none")):
        return _ill_typed(draw, grammar, draw(choices.sampled_from(RULES)))
    chain = _start(draw, grammar)
    if grammar.shows_starts and draw(choices.integers(1, 5)) == 1:
        chain = _starting(chain)
    grow(chain, STEPS, repeat("any", draw(choices.integers(1, LONGEST - len(chain.program.steps)))))
    return chain.program


def _starting(chain: TypedChain) -> TypedChain:
    """Return the chain with a start of the table, and the cast of its operand; as it is where none was found."""
    name = chain.draw(choices.sampled_from(list(STARTS)))
    start = STARTS[name]
    chain.program = replace(chain.program, checked=bool(start.operand))
    for _ in range(TRIES_OF_A_RULE):
        made = chain.copy()
        if start.operand == "unreduced":
            longer(made, "operand", ops=("cast",), starts=NEVER)
        longer(made, "under way", ops=(start.op,), starts=1)
        if name in _starts(made.program):
            return made
    return chain


def _starts(program: TypedProgram) -> list[str]:
    """Return the name of each start."""
    types = check(program)
    return [
        name_of_start(step, types[step.inputs[0]], types[step.output], checked=program.checked)
        for step in program.steps
        if step.start
    ]


@choices.composite
def ill_typed_programs(draw: Draw, rule: str) -> TypedProgram:
    """Draw a program whose last step a rule refuses, if one is found."""
    return _ill_typed(draw, TYPING, rule)


def _ill_typed(draw: Draw, grammar: Grammar, rule: str) -> TypedProgram:
    """Draw a program whose last step is refused, mostly over a mesh of several axes, of which most rules speak."""
    several = tuple(sizes for sizes in grammar.meshes if len(sizes) > 1)
    chain = _start(draw, grammar._replace(meshes=(*several * 3, *grammar.meshes)))
    program = chain.program
    automatic = (program.automatic or rule == "types.C4") and rule != "types.C2"
    program = replace(program, checked=True, automatic=automatic)
    chain.program = _partly_mapped(program) if rule == "types.C1" and len(program.mesh) > 1 else program
    grow(chain, STEPS, ("cast",))
    most = 1 if rule in PENDING else LONGEST - 3
    grow(chain, STEPS, repeat("any", draw(choices.integers(0, most))))
    if rule in ("starts.C9", "starts.C10"):
        grow(chain, STEPS, ("started",))
    return _refused(chain, rule)


@choices.composite
def uneven_programs(draw: Draw, grammar: Grammar) -> TypedProgram:
    """Draw a program without types that begins with a reduction over groups of unequal sizes, where one is found."""
    chain = _start(draw, grammar._replace(meshes=WIDE, unchecked=1))
    for _ in range(TRIES_OF_A_RULE):
        made = chain.copy()
        grow(made, STEPS, ("all_reduce",))
        if any(len({len(group) for group in step.groups or ()}) > 1 for step in made.program.steps):
            chain = made
            break
    chain.tried = 1
    grow(chain, STEPS, repeat("any", draw(choices.integers(0, LONGEST - 3))))
    return chain.program


@choices.composite
def mapped_programs(draw: Draw, levels: tuple[Axis, ...]) -> TypedProgram:
    """Draw a well-typed program of up to three steps, which may name ``levels``."""
    chain = _start(draw, ACROSS._replace(levels=levels))
    grow(chain, STEPS, repeat("any", draw(choices.integers(1, 3))))
    return chain.program


def _refused(chain: TypedChain, rule: str) -> TypedProgram:
    """Return the program with a step more that a rule refuses, this ``rule`` if there is one in so many tries."""
    draw, program = chain.draw, chain.program
    grammar = chain.grammar._replace(ops=WAYS[rule], starts=NEVER)
    other, turn = program, draw(choices.integers(0, 1))
    for _ in range(TRIES_OF_A_RULE):
        found = drawn_step(draw, program, grammar, chain.shapes, "last", wild=True)
        if found is None:
            continue
        made = with_step(program, found[0])
        refused = rule_of(made)
        if refused == rule and _for_one_reason(program, found[0], rule, turn):
            return made
        other = made if refused is not None else other
    return other


def _for_one_reason(program: TypedProgram, step: TypedStep, rule: str, turn: int) -> bool:
    """Return whether a step that a rule refuses would be legal but for one thing: another hides who forgot the rule.

    A product is one of two pending sums, and one of a pending sum with what is not reduced, in turn. A sum is
    of what is pending along its first axis, or of what is pending along none, in turn.
    """
    if rule == "types.C15":
        return rule_of(with_step(program, replace(step, groups=None))) is None
    types = check(program)
    if rule == "types.C4" and step.op != "cast":
        states = [types[name].state(axis) for name in step.inputs for axis in step.axes]
        return states[0] == "unreduced" if turn else not {"unreduced", "reduced"} & {*states}
    if rule != "types.C10":
        return True
    return all(types[name].unreduced for name in step.inputs) == bool(turn % 2)


def with_step(program: TypedProgram, step: TypedStep) -> TypedProgram:
    """Return the program with a step more, whose output is a result unless it is only started."""
    results = program.results if step.start else (*program.results, step.output)
    return replace(program, steps=(*program.steps, step), results=results)


def _start(draw: Draw, grammar: Grammar) -> TypedChain:
    sizes = draw(choices.within(grammar.meshes, "axes", lambda sizes: "one" if len(sizes) == 1 else "several"))
    mesh = tuple(Axis(name=name, size=size) for name, size in zip(NAMES, sizes, strict=False))
    names = tuple(axis.name for axis in mesh)
    some: list[tuple[str, ...] | None] = [names[:1], names[1:] or None]
    mapped = draw(choices.within([None] * 6 + some, "mapped", lambda axes: "some" if axes else "all"))
    known = names if mapped is None else mapped
    inputs = {name: _input(draw, mesh, known) for name in ("a", "b")[: draw(choices.integers(1, 2))]}
    program = TypedProgram(
        mesh=mesh,
        inputs=inputs,
        steps=(),
        results=(),
        mapped=mapped,
        checked=draw(choices.within([True] * (grammar.unchecked - 1) + [False], "checks", _word_of_checks)),
        automatic=draw(choices.within([True] * 4 + [False], "casts", _word_of_casts)),
    )
    return TypedChain(draw, grammar, program, {name: given.shape for name, given in inputs.items()})


def _word_of_checks(checked: bool) -> str:
    return "on" if checked else "off"


def _word_of_casts(automatic: bool) -> str:
    return "automatic" if automatic else "written"


def _partly_mapped(program: TypedProgram) -> TypedProgram:
    """Return the program without the last axis of its mesh among those that it may name."""
    names = tuple(axis.name for axis in program.mesh[:-1])
    inputs = {
        name: replace(given, varying=tuple(axis for axis in given.varying if axis in names))
        for name, given in program.inputs.items()
    }
    return replace(program, mapped=names, inputs=inputs)


def _input(draw: Draw, mesh: Sequence[Axis], known: Sequence[str]) -> TypedInput:
    world = math.prod(axis.size for axis in mesh)
    full: list[Shape] = [(world,), (world, 2), (), (world,), (2, world), (world, world)]
    shape = draw(choices.sampled_from([*full * 3, (0,), (world, 0), (0, world)]))
    varying = tuple(axis for axis in sorted(known) if draw(choices.booleans()))
    return TypedInput(dtype="int32", shape=shape, varying=varying)


def rule_of(program: TypedProgram) -> str | None:
    """Return the rule that refuses a program."""
    try:
        check(program)
    except IllTyped as error:
        return error.clause
    return None
