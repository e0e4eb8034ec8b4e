"""A kernel being written: where values are, and the instructions on them."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.cases.schedule.extent import Dim, Values
from conformance.cases.schedule.index_map import IndexMap
from conformance.cases.schedule.kernel_body import Body, Cast, Constant, Instruction, Load, Store, Symbol
from conformance.cases.schedule.schedule import Access, Binding, Kernel
from conformance.cases.tensor.tensor import Tensor

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Where:
    """Where the value of a node is: elements of a ``buffer`` by ``map``, a constant, or a variable of a dtype."""

    shape: Numbers
    dtype: str
    device: str
    buffer: str = ""
    map: IndexMap = ()
    constant: Tensor | None = None
    variable: str = ""


class Code:
    """The instructions of one kernel."""

    def __init__(self, device: str, extents: tuple[Dim, ...]) -> None:
        """Begin a kernel over the points of ``extents``."""
        self.device, self.extents = device, extents
        self.lines: list[Instruction] = []
        self.accesses: list[Access] = []
        self.variables: dict[str, None] = {}

    def add(self, line: Instruction) -> int:
        """Add an instruction, and return its number."""
        self.lines.append(line)
        return len(self.lines) - 1

    def value(self, at: Where) -> int:
        """Return the number of the instruction that gives what is there."""
        if at.constant is not None:
            return self.add(Constant(value=at.constant))
        if at.variable:
            self.variables[at.variable] = None
            found = self.add(Symbol(name=at.variable))
            return found if at.dtype == "int64" else self.add(Cast(of=found, dtype=at.dtype))
        self.accesses.append(Access(buffer=at.buffer, map=at.map))
        return self.add(Load(access=len(self.accesses) - 1))

    def stored(self, id: str, value: int, write: Access, values: Values, by: tuple[str, ...]) -> Kernel:
        """Return the kernel that stores a value: ``values`` are those of variables, ``by`` the nodes it computes."""
        self.add(Store(access=len(self.accesses), of=value))
        self.accesses.append(write)
        return Kernel(
            id=id,
            device=self.device,
            accesses=tuple(self.accesses),
            bodies=(Body(extents=self.extents, instructions=tuple(self.lines)),),
            variables=tuple(Binding(name, values[name]) for name in sorted(self.variables)),
            provenance=by,
        )
