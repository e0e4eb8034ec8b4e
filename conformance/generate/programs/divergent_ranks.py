"""What the suite ``liveness`` draws: one rank, or one group, does otherwise than the rest, or is late, or dies.

Blocks are small and have elements, groups have two members at least, and every call is legal by itself. Nothing is
reduced twice, so that every dtype and reduction is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.generate import choices
from conformance.generate.calls.call import Call
from conformance.generate.calls.draft import DTYPES, Draft, draft, groups_of
from conformance.generate.calls.process_groups import place
from conformance.generate.calls.reductions import reduction
from conformance.generate.calls.vocabulary import call_of
from conformance.generate.operations import CALLED, CALLS
from conformance.generate.programs.script import Script, script

FEW: Final = ((2,), (4,), (4,), (3,), (2, 2))
"""An implementation with ranks of its own starts them anew after most of these programs, so that they are few."""

MESHES: Final = (*FEW, *FEW, (6,), (8,))

KINDS: Final = ("none", "even", "strided", "unsorted")
"""Kinds of groups of two members or more."""

ANY_SHAPE: Final = ("all_reduce", "arg_reduce", "broadcast", "permute", "reduce", "scan", "shuffle")
"""Operations that take blocks of any shape, with the attributes of another one too."""

TROUBLES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "late": (("all", "again"), ("all", "call")),
    "own ways": (("group", "other"), ("others", "call")),
    "dies": (("all", "again"), ("all", "call")),
    "operations": (("odd", "other"), ("rest", "call")),
    "attributes": (("odd", "attributes"), ("rest", "call")),
    "own order": (("group", "call"), ("group", "other"), ("others", "other"), ("others", "call")),
    "dtypes": (("odd", "dtype"), ("rest", "call")),
    "shapes": (("odd", "shape"), ("rest", "call")),
    "split": (("odd", "again"), ("rest", "call")),
    "order": (("odd", "call"), ("odd", "other"), ("rest", "other"), ("rest", "call")),
    "crossing": (("odd", "everybody"), ("all", "call"), ("rest", "everybody")),
    "groups": (("odd", "groups"), ("rest", "call")),
    "fewer": (("all", "other"), ("rest", "call")),
    "more": (("all", "other"), ("odd", "call")),
}
"""For each trouble the steps of a program: who makes it, and what it is.

The ``odd`` rank is one, its ``group`` is where there are several groups, and where not it is that rank alone. Steps are
the ``call``, it ``again`` on an operand that may be another, an ``other`` call, or the call with one thing of its own:
an attribute, a dtype, a shape, other groups, or with ``everybody``. What it has no other of is an ``other`` call."""

TRIES: Final = 8
"""Calls that are drawn until one has other attributes."""

NARROW: Final = ("attributes", "dtypes")
"""Troubles that need another attribute, or another dtype, that is legal by itself."""

_TROUBLE: Final = choices.sampled_from([*TROUBLES, "late", "split"])
_MESH: Final = choices.sampled_from(MESHES)
_FEW_DTYPES: Final = choices.sampled_from(["int32", "float32", "int64", "float64", "uint8", "bool"])
"""Those whose reductions are other ones of the same dtype, or the same of another."""
_DTYPE: Final = choices.steered(DTYPES, ("dtype",), lambda dtype: (dtype,))
DELAY: Final = choices.sampled_from([0.05, 0.1, 0.2])
"""Seconds: longer than any rank computes here, and a fifth of what the least patient rank waits."""
_BOOLEANS: Final = choices.booleans()


_OF_DYING: Final = choices.sampled_from((*FEW, *FEW, *FEW, (6,), (8,), (12,)))
_OPERANDS: Final = choices.steered(["one"] * 6 + ["several", "same"], ("operands",), lambda word: (word,))
_TURNS: Final = choices.sampled_from(["first", "second", "later"]).map(("first", "second", "later").index)
"""How many calls are before the last one."""


@choices.composite
def troubled(draw: choices.Draw, op: str) -> Case:
    """Draw a program that shows one kind of trouble with ``op``, or that there is none."""
    trouble = draw(_TROUBLE)
    program = _begun(draw, op, narrow=trouble in NARROW)
    for who, what in TROUBLES[trouble]:
        program.add(who, what)
    return program.case(trouble)


@dataclass
class DivergentRanks:
    """A program in the making. ``odd`` is the rank that does otherwise; ``other`` is a call of another operation."""

    drawn: Draft
    call: Call
    other: Call
    groups: Groups
    odd: int
    steps: list[Step] = field(default_factory=list)
    inputs: dict[str, Operand] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)

    def add(self, who: str, what: str) -> None:
        """Add a step of ``TROUBLES``."""
        own = self.groups[0] if who in ("group", "others") and len(self.groups) > 1 else (self.odd,)
        ranks = own if who in ("odd", "group") else tuple(r for r in range(self.drawn.world) if r not in own)
        some = None if who == "all" else tuple(sorted(ranks))
        blocks = bool(self.call.operand)
        if what == "other" or (what in ("dtype", "shape") and not blocks):
            self.run(self.other, some)
        elif what == "attributes":
            self.run(self.changed() or self.other, some)
        elif what == "dtype":
            self.run(self.call, some, of=self.operand(dtype=self.other_dtype))
        elif what == "shape":
            self.run(self.call, some, of=self.operand(wider=True))
        elif what == "groups":
            self.run(self.call, some, groups=self.other_groups())
        else:
            other = self.operand() if what == "again" and blocks and self.flip() else None
            self.run(self.call, some, of=other, everybody=what == "everybody" and len(self.groups) > 1)

    def changed(self) -> Call | None:
        """Draw the call with other attributes that are legal by themselves, on the same blocks, if any are found."""
        op, drawn, shape = self.call.op, self.drawn, self.call.operand[0] if self.call.operand else ()
        for _ in range(TRIES if op in CALLED else 0):
            found = call_of(drawn.draw, op, drawn, shape, reduction(drawn.draw, drawn, op))
            if found and found[1].attrs != self.call.attrs:
                return replace(self.call, attrs=found[1].attrs)
        return None

    @property
    def other_dtype(self) -> str:
        """Return a dtype of another width, which the call's reduction is for as well."""
        return {"bool": "uint8", "float32": "float64", "float64": "float32", "int32": "int64"}.get(
            self.drawn.dtype, "int32"
        )

    def other_groups(self) -> Groups:
        """Return groups in which the odd rank means others: across the groups, or each the other way round."""
        given = self.drawn.groups or (tuple(range(self.drawn.positions)),)
        if len(given) > 1 and self.flip():
            return tuple(zip(*given, strict=True)) if len(given) == len(given[0]) else (*given[1:], given[0][::-1])
        return tuple(group[::-1] for group in given)

    def operand(self, call: Call | None = None, *, dtype: str | None = None, wider: bool = False) -> str:
        """Draw an input for a call; ``wider`` blocks have an axis more, or its elements in another shape."""
        call = call or self.call
        drawn = self.drawn if dtype is None else replace(self.drawn, dtype=dtype)
        values = call.values if dtype is None else "any"
        most = max(call.operand, key=lambda shape: shape[:1])
        shape = self._unlike(call.op, most) if wider else most
        plain = drawn.operand(shape, values, alike=True)
        rows = [shape[:1] for shape in call.operand]
        name = f"x{len(self.inputs)}"
        self.inputs[name] = plain if len(set(rows)) == 1 else drawn.with_rows(plain, [row[0] for row in rows])
        return name

    def _unlike(self, op: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Draw another shape: with an axis more, or as many elements where the operation cuts no axis."""
        found = [(*shape, 2)]
        if op in ANY_SHAPE:
            turned = shape[::-1] if shape[::-1] != shape else (*shape, 1)
            found += [turned, (*shape[:-1], shape[-1] + 1) if shape else (1,)]
        return self.drawn.draw.one(found)

    def run(
        self,
        call: Call,
        ranks: tuple[int, ...] | None,
        *,
        of: str | None = None,
        groups: Groups | None = None,
        everybody: bool = False,
    ) -> None:
        """Add a step for ``ranks``, on the operand ``of``, among other ``groups`` or with no groups at all."""
        drawn = self.drawn
        # One input serves all steps of a call unless it is to be another.
        inputs = () if not call.operand else (of or self._shared(call),)
        outputs = tuple(f"y{len(self.steps)}" for _ in inputs)
        self.outputs += outputs
        step = Step(
            op=call.op,
            inputs=inputs,
            outputs=outputs,
            axes=tuple(axis.name for axis in drawn.mesh) if everybody else drawn.axes,
            groups=None if everybody else groups or drawn.groups,
            attrs=dict(call.attrs),
            ranks=ranks,
        )
        self.steps.append(step)

    def _shared(self, call: Call) -> str:
        name = f"for_{call.op}"
        if name not in self.inputs:
            drawn = self.operand(call)
            self.inputs[name] = self.inputs.pop(drawn)
        return name

    def case(self, trouble: str) -> Case:
        """Return the program, all of whose values are results, with what befalls the odd rank."""
        draw, faults = self.drawn.draw, tuple[Fault, ...]()
        if trouble in ("late", "dies"):
            before = draw(choices.sampled_from(range(len(self.steps))))
            faults = (Fault(rank=self.odd, before=before, delay=draw(DELAY) if trouble == "late" else None),)
        program = Program(mesh=self.drawn.mesh, steps=tuple(self.steps), results=tuple(self.outputs))
        return Case(program=program, inputs=self.inputs, faults=faults)

    def flip(self) -> bool:
        """Draw yes or no, no being the plain choice."""
        return self.drawn.draw(_BOOLEANS)


def _begun(draw: choices.Draw, op: str, *, narrow: bool) -> DivergentRanks:
    """Draw the beginning of a program on ``op``: mesh, groups of two members or more, and the rank that is odd.

    ``narrow`` programs are of the dtypes and reductions of which there are others alike.
    """
    mesh = tuple(Axis(name, size) for name, size in zip("ij", draw(_MESH), strict=False))
    at = place(draw, KINDS, mesh)
    dtype = draw(_FEW_DTYPES if narrow else _DTYPE)
    drawn, call = _call(draw, op, Draft(draw, mesh, at.axes, at.groups, dtype, once=not narrow))
    drawn, other = _call(draw, "broadcast" if op in ("all_reduce", "barrier") else "all_reduce", drawn)
    odd = draw(choices.sampled_from(range(drawn.world)))
    # The group of the odd rank first, so that what one group does it does.
    groups = sorted(drawn.rank_groups(), key=lambda group: odd not in group)
    return DivergentRanks(drawn, call, other, tuple(groups), odd)


def _call(draw: choices.Draw, op: str, drawn: Draft) -> tuple[Draft, Call]:
    if op == "barrier":
        return drawn, Call("barrier", {}, ())
    return CALLS[op](draw, drawn, "whole")


def late_call(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op`` on anything it takes, for which a rank is late."""
    case = _called(script(_legal_only(draw), op, once=True))
    return _with_fault(draw, case, before=draw.one(range(len(case.program.steps))), delay=draw(DELAY))


def dying_call(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op`` on blocks with elements, before which a rank dies, or after which.

    Whether ranks wait for each other where there is nothing to hand on is for implementations to say. What comes after
    it then is a call for which nobody waits, so that the others return what they have.
    """
    right = _legal_only(draw)
    mesh = tuple(Axis(name, size) for name, size in zip("ij", draw(_OF_DYING), strict=False))
    drawn = replace(draft(right, groups_of(op), mesh), once=True)
    program = Script(*CALLS[op](right, drawn, "whole"))
    if len(drawn.rank_groups()) > 1 and draw(_BOOLEANS):
        return _with_fault(draw, _called(program), before=0)
    nowhere = replace(drawn, axes=(), groups=None)
    single = replace(drawn, groups=tuple((position,) for position in range(drawn.positions)))
    alone, call = CALLS[op](right, nowhere if draw(_BOOLEANS) else single, "whole")
    case = _called(program, program.other(alone, call))
    return _with_fault(draw, case, before=len(case.program.steps) - 1)


def _called(program: Script, *others: Script) -> Case:
    """Return the program of one call, on one operand or on several, made up to three times, and of ``others``."""
    draw = program.drawn.draw
    word = draw(_OPERANDS)

    def drawn() -> list[str]:
        operands = [program.input() for _ in range(2 if word == "several" else 1)]
        return [*operands, *(operands if word == "same" else ())]

    operands = drawn()
    results = program.run(*operands)
    for _ in range(draw(_TURNS)):
        results += program.run(*(drawn() if draw(_BOOLEANS) else operands))
    for other in others:
        results += other.run(other.input())
    return program.case(*results)


def _legal_only(draw: choices.Draw) -> choices.Draw:
    """Return the draw with the goal that no call is illegal: the fault of a rank is all that is wrong."""
    return choices.Draw(draw.source, draw.goals.legal())


def _with_fault(draw: choices.Draw, case: Case, *, before: int, delay: float | None = None) -> Case:
    """Return the program with one rank that is late for a step, or dies before it."""
    faults = (Fault(rank=draw.one(range(case.program.world)), before=before, delay=delay),)
    return Case(program=case.program, inputs=case.inputs, faults=faults)
