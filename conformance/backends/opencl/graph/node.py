"""What was asked, as frozen nodes. A node is one stored value on one device; a ``Movement`` is a view of it.

Nodes compare by identity: two equal requests are two values. Devices are numbered as ranks are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from conformance.backends.opencl.graph.index_map import IndexMap
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.cases.program.program import Groups
from conformance.cases.schedule import kernel_body


class Movement(msgspec.Struct, frozen=True, eq=False):
    """A view of a node's storage: slices, transposes, flips, broadcasts and reshapes cost nothing."""

    node: Node
    view: View


class Node(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A stored value: ``size`` elements of ``dtype`` on ``device``."""

    device: int
    dtype: str
    size: int


class Buffer(Node, frozen=True, eq=False):
    """Storage that exists before the program: input ``name`` of rank ``device``."""

    name: str


class Copy(Node, frozen=True, eq=False):
    """Elements ``start`` to ``start + size`` of the storage of ``source``, moved as raw bytes."""

    source: Node
    start: int


class Elementwise(Node, frozen=True, eq=False):
    """``operand`` in C order, every bit as it is. ``asked`` is its name in the program's graph, if it has one."""

    operand: Movement
    asked: str = ""


class Opened(Elementwise, frozen=True, eq=False):
    """Storage for the buffer ``name``, at first the whole storage ``operand`` of an input; ``Write`` changes it."""

    name: str = ""


class Fill(Node, frozen=True, eq=False):
    """The lowest bytes of ``value`` in every element."""

    value: int


class Reduce(Node, frozen=True, eq=False):
    """The operands, views of one shape, combined by ``op`` from the left, rounded after every operation.

    The last ``local`` axes of every operand are folded away, slice by slice in C order. The rest is the shape of the
    result, of which the node holds the ``size`` elements that begin at ``first``. ``accumulator`` is the dtype
    that is computed in. ``scale`` multiplies every element before it is combined, ``divisor`` divides the end result;
    both are bits, as ``Format.scalar`` takes them. ``arg_max`` and ``arg_min`` give the number of an operand.
    """

    op: str
    operands: tuple[Movement, ...]
    accumulator: str
    first: int = 0
    local: int = 0
    scale: int | None = None
    divisor: int | None = None


class Part(msgspec.Struct, frozen=True, eq=False):
    """A region of a ``Join`` and what is written there: a value of the same shape, or zero bits for ``None``."""

    at: View
    value: Movement | None


class Join(Node, frozen=True, eq=False):
    """Parts written side by side into one storage."""

    parts: tuple[Part, ...]


class Write(Node, frozen=True, eq=False):
    """The storage of ``before`` once ``value`` stands at ``at``: the same bytes, which nobody sees as they were again.

    Whoever reads ``before`` does so earlier, which ``order`` sees to. The first ``before`` is the ``Opened`` storage.
    ``asked`` is what it is called in the program's graph, if anything.
    """

    before: Node
    at: View
    value: Movement
    asked: str = ""


class Take(msgspec.Struct, frozen=True):
    """The element of read ``access`` that lies ``index`` (an instruction) times ``stride`` behind where its map says.

    ``index`` is clamped to 0 up to ``extent``, not included.
    """

    access: int
    index: int
    extent: int
    stride: int


Instruction = kernel_body.Instruction | Take

_OF_ONE: Final = (kernel_body.Cast, kernel_body.Bitcast, kernel_body.Reduce, kernel_body.Store)


def sources(line: Instruction) -> tuple[int, ...]:
    """Return the numbers of the instructions that one takes."""
    if isinstance(line, kernel_body.Alu):
        return line.of
    if isinstance(line, Take):
        return (line.index,)
    return (line.of,) if isinstance(line, _OF_ONE) else ()


class Launch(msgspec.Struct, frozen=True, eq=False):
    """One kernel over the points of ``extents``: instructions, of which each names earlier ones by number.

    The first ``outer`` axes are those of what is stored, the others are folded away. Access ``k`` of a load is
    ``reads[k]``, and the stores follow behind those: the map of the elements and the dtype. ``reason`` says why it is a
    kernel of its own, ``asked`` which nodes of the graph it computes, and ``lanes`` how many float32 a
    vector of its device has, 0 where vectors may not be used. The numbers of one that is ``generic`` (extents, strides,
    constants) are arguments, so that what is built serves every value of a variable.
    """

    device: int
    extents: tuple[int, ...]
    outer: int
    instructions: tuple[Instruction, ...]
    reads: tuple[tuple[Node, IndexMap], ...]
    stores: tuple[tuple[IndexMap, str], ...]
    reason: str = ""
    asked: tuple[str, ...] = ()
    lanes: int = 16
    generic: bool = False


class Computed(Node, frozen=True, eq=False):
    """Store ``number`` of a launch, in storage of its own. ``asked`` is its name in the graph, if it has one."""

    launch: Launch
    number: int = 0
    asked: str = ""


class Written(Computed, frozen=True, eq=False):
    """The storage of ``before`` once the launch has stored there; whoever reads ``before`` does so earlier."""

    before: Node | None = None


class Collective(msgspec.Struct, frozen=True, eq=False):
    """An operation between ranks on one block of each; legal, for it was checked when it was built.

    ``shapes`` has what every rank receives, ``None`` where that is nothing. ``stage`` counts the barriers before it.
    ``under`` are the blocks of a ragged exchange that are written over. ``name`` is that of the result. Those of one
    step with several operands have one ``call``.
    """

    operation: str
    attrs: dict[str, Any]
    groups: Groups
    blocks: tuple[Movement, ...]
    dtype: str
    shapes: tuple[tuple[int, ...] | None, ...]
    stage: int = 0
    under: tuple[Movement, ...] = ()
    name: str = ""
    call: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return what the first rank that receives something receives."""
        return next((shape for shape in self.shapes if shape is not None), ())


class Output(Node, frozen=True, eq=False):
    """What rank ``device`` receives from a collective, in C order."""

    collective: Collective


def root(node: Node) -> Node:
    """Return the node that made the storage in which ``node`` lies."""
    while isinstance(node, Write | Written):
        node = before(node)
    return node


def before(node: Write | Written) -> Node:
    """Return what the storage of ``node`` was before."""
    assert node.before is not None  # a Written has one
    return node.before


def whole(node: Node, shape: tuple[int, ...]) -> Movement:
    """Return the C-order value of ``shape`` that fills the storage of ``node``."""
    return Movement(node, contiguous(shape))


def needs(node: Node) -> Sequence[Node]:
    """Return the nodes a node reads."""
    found = _NEEDS.get(type(node))
    return found(node) if found is not None else ()


# Asked for each node many times over: a look at its type costs a third of asking for one type after another.
_NEEDS: Final[dict[type[Node], Callable[[Any], Sequence[Node]]]] = {
    Copy: lambda node: (node.source,),
    Elementwise: lambda node: (node.operand.node,),
    Opened: lambda node: (node.operand.node,),
    Reduce: lambda node: [operand.node for operand in node.operands],
    Join: lambda node: [part.value.node for part in node.parts if part.value is not None],
    Write: lambda node: (node.before, node.value.node),
    Computed: lambda node: [read for read, _ in node.launch.reads],
    Written: lambda node: [*(read for read, _ in node.launch.reads), before(node)],
}
