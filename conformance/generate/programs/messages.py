"""Programs on operations that are no one block a rank: a send and its recv, and ragged exchanges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from conformance.cases.program.program import Attr
from conformance.generate import choices
from conformance.generate.calls.call import Call, Shapes
from conformance.generate.calls.draft import Draft
from conformance.generate.operations.ragged_all_to_all import programs as ragged
from conformance.generate.programs.script import ALONE, Script, script

_STORED: Final = choices.steered([False, False, True], ("view",), lambda stored: ("" if stored else "none",))


@dataclass
class Messages(Script):
    """A program on ``recv``: what is started is a send, and what is waited for its recv, into ``targets`` by token."""

    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def op(self) -> str:
        """Return the operation that the program is drawn for."""
        return "recv"

    def run(self, *operands: str, into: tuple[str, ...] = (), start: bool = False) -> tuple[str, ...]:
        """Send operands along the pairs of the call; return the tokens, or what is received at once."""
        tokens = tuple(self._name("k", self.call.operand, self.drawn.dtype) for _ in operands)
        for at, (token, operand) in enumerate(zip(tokens, operands, strict=True)):
            self._collective("send", (operand,), (token,), {"pairs": self.call.attrs["pairs"]}, (), start=False)
            self.targets[token] = into[at : at + 1] if len(operands) > 1 else into
        return tokens if start else self.done(*tokens)

    def done(self, *tickets: str) -> tuple[str, ...]:
        """Receive what was sent, or wait for what another call started."""
        return tuple(
            self._recv(each) if each in self.targets else super(Messages, self).done(each)[0] for each in tickets
        )

    def _recv(self, token: str) -> str:
        name = self._name("y", self.result, self.dtype)
        shape, dtype = tuple(self.call.operand[0]), self.drawn.dtype
        attrs: dict[str, Attr] = {"pairs": self.call.attrs["pairs"], "shape": shape, "dtype": dtype}
        self._collective("recv", (token,), (name,), attrs, self.targets.pop(token), start=False)
        return name


@dataclass
class Exchanges(Script):
    """A program on ``ragged_all_to_all``: beside what is sent it takes an output, and ``tables`` of slices.

    Tables are inputs, or storage that nobody has written yet; ``held`` are those of the last call.
    """

    output: Shapes = ()
    tables: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def beside(self) -> tuple[str, ...]:
        """Return the operands beside what is sent and the output."""
        return self.held

    @property
    def result(self) -> Shapes:
        """Return the shapes of the result, which is like the output."""
        return self.output

    @property
    def dtype(self) -> str:
        """Return the dtype of the result."""
        return self.drawn.dtype

    def run(self, *operands: str, into: tuple[str, ...] = (), start: bool = False) -> tuple[str, ...]:
        """Exchange slices of operands, written over an output that is an input, or the target if that is a buffer."""
        names = tuple(self._name("t" if start else "y", self.result, self.dtype) for _ in operands)
        for at, operand in enumerate(operands):
            target = into[at : at + 1] if len(operands) > 1 else into
            there = len(target) == 1 and self.fits(target[0]) and self.base(target[0]) == target[0] and self.flip()
            self.held = tuple(self.stored(name) if self.drawn.draw(_STORED) else name for name in self.tables)
            inputs = (operand, target[0] if there else self.input(self.output), *self.held)
            self._collective("ragged_all_to_all", inputs, names[at : at + 1], {}, target, start=start)
        return names


def begun(draw: choices.Draw, op: str, *, shapes: str = "any") -> Script:
    """Draw the beginning of a program on an operation that takes a block."""
    if op == "ragged_all_to_all":
        return _exchanged(draw)
    found = script(
        draw, "permute" if op == "recv" else op, alone=op != "recv" and draw(ALONE), shapes=shapes, once=True
    )
    return Messages(found.drawn, found.call) if op == "recv" else found


def _exchanged(draw: choices.Draw) -> Exchanges:
    """Draw the beginning of a program on a ragged exchange, whose tables are inputs or storage."""
    case = choices.Draw(draw.source, draw.goals.legal())(ragged())
    (step,) = case.program.steps
    operand, output, *tables = step.inputs
    shapes = {name: tuple(block.shape for block in held.blocks) for name, held in case.inputs.items()}
    dtype = case.inputs[operand].blocks[0].dtype
    drawn = Draft(draw, case.program.mesh, step.axes, step.groups, dtype, once=True)
    made = Exchanges(drawn, Call(step.op, {}, shapes[operand]), output=shapes[output])
    for name in tables:
        made.inputs[name], made.shapes[name] = case.inputs[name], shapes[name]
        made.dtypes[name] = case.inputs[name].blocks[0].dtype
    made.tables = tuple(tables)
    return made
