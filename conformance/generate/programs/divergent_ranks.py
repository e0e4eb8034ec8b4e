"""What the domain of the suite ``liveness`` draws from: a collective, another one, and a rank that does otherwise.

Blocks are small and have elements, groups have two members at least, and every call is legal by itself. Nothing is
reduced twice, so that every dtype and reduction is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.calls.draft import DTYPES, Draft
from conformance.generate.calls.legal_calls import REDUCTIONS, Call
from conformance.generate.calls.process_groups import place
from conformance.generate.operations import CALLS

FEW: Final = ((2,), (4,), (4,), (3,), (2, 2))
"""An implementation with ranks of its own starts them anew after most of these programs, so that they are few."""

MESHES: Final = (*FEW, *FEW, (6,), (8,))

KINDS: Final = ("none", "even", "strided", "unsorted")
"""Kinds of groups of two members or more."""

ANY_SHAPE: Final = ("all_reduce", "arg_reduce", "broadcast", "permute", "reduce", "scan", "shuffle")
"""Operations that take blocks of any shape, with the attributes of another one too."""

_MESH: Final = choices.sampled_from(MESHES)
_FEW_DTYPES: Final = choices.sampled_from(["int32", "float32", "int64", "float64", "uint8", "bool"])
"""Those whose reductions are other ones of the same dtype, or the same of another."""
_DTYPE: Final = choices.steered(DTYPES, ("dtype",), lambda dtype: (dtype,))
DELAY: Final = choices.sampled_from([0.05, 0.1, 0.2])
"""Seconds: longer than any rank computes here, and a fifth of what the least patient rank waits."""
_BOOLEANS: Final = choices.booleans()


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

    @property
    def rest(self) -> tuple[int, ...]:
        """Return all ranks but the odd one."""
        return self.without(self.odd)

    def without(self, *ranks: int) -> tuple[int, ...]:
        """Return the ranks that are none of ``ranks``."""
        return tuple(rank for rank in range(self.drawn.world) if rank not in ranks)

    def changed(self) -> Call | None:
        """Draw the call with another attribute that is legal by itself, if it has any."""
        found = _changed(self.call, self.drawn)
        return replace(self.call, attrs={**self.call.attrs, **self.drawn.draw.one(found)}) if found else None

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

    def again(self) -> str | None:
        """Draw another operand for the call, now and then."""
        return self.operand() if self.call.operand and self.flip() else None

    def run(
        self,
        call: Call,
        *,
        ranks: tuple[int, ...] | None = None,
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
            ranks=None if ranks is None else tuple(sorted(ranks)),
        )
        self.steps.append(step)

    def _shared(self, call: Call) -> str:
        name = f"for_{call.op}"
        if name not in self.inputs:
            drawn = self.operand(call)
            self.inputs[name] = self.inputs.pop(drawn)
        return name

    def case(self, *, late: int | None = None, dies: int | None = None) -> Case:
        """Return the program, all of whose values are results, with what befalls a rank."""
        before = self.drawn.draw(choices.sampled_from(range(len(self.steps))))
        delay = None if late is None else self.drawn.draw(DELAY)
        rank = dies if late is None else late
        faults = () if rank is None else (Fault(rank=rank, before=before, delay=delay),)
        program = Program(mesh=self.drawn.mesh, steps=tuple(self.steps), results=tuple(self.outputs))
        return Case(program=program, inputs=self.inputs, faults=faults)

    def flip(self) -> bool:
        """Draw yes or no, no being the plain choice."""
        return self.drawn.draw(_BOOLEANS)


def divergent_ranks(draw: choices.Draw, op: str, *, narrow: bool) -> DivergentRanks:
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


PLACES: Final = ("root", "axis", "split_axis", "concat_axis")
"""Numbers that name one of so many; any other may be one greater."""


def _changed(call: Call, drawn: Draft) -> list[Mapping[str, Attr]]:
    """Return other values of one attribute each, for the same blocks; none where no other are legal by themselves."""
    attrs: dict[str, Any] = dict(call.attrs)
    shape, size = call.operand[0] if call.operand else (), drawn.group_size
    found: list[dict[str, Any]] = []
    if "op" in attrs:
        names = dict.fromkeys(REDUCTIONS[kind(drawn.dtype)])
        found.append({"op": next(name for name in names if name != attrs["op"])})
    if "root" in attrs:
        found.append({"root": (attrs["root"] + 1) % size})
    found += [{name: not value} for name, value in attrs.items() if isinstance(value, bool) and name != "tiled"]
    found += [{name: value + 1} for name, value in attrs.items() if type(value) is int and name not in PLACES]
    if "local_axes" in attrs and shape and len(attrs["local_axes"]) < len(shape):
        named = {axis % len(shape) for axis in attrs["local_axes"]}
        found.append({"local_axes": (*attrs["local_axes"], next(a for a in range(len(shape)) if a not in named))})
    if call.op == "shuffle":
        found.append({"sources": (*attrs["sources"][1:], attrs["sources"][0])})
    elif call.op == "permute":
        found.append({"pairs": tuple((source, (to + 1) % size) for source, to in attrs["pairs"])})
    elif call.op in ("all_gather", "gather") and shape:
        found.append({"axis": 0, "tiled": not attrs["tiled"]})
        found += [{"axis": at} for at in range(len(shape)) if len(shape) > 1 and at != attrs["axis"] % len(shape)]
    elif call.op == "all_to_all" and len(shape) > 1:
        found.append({"concat_axis": (attrs["concat_axis"] + 1) % len(shape)})
    elif call.op in ("reduce_scatter", "scatter"):
        cut = attrs["axis"] % len(shape)
        found += [
            {"axis": at} for at, extent in enumerate(shape) if at != cut and extent % size == 0 and attrs["tiled"]
        ]
    return [each for each in found if each.items() - attrs.items()]
