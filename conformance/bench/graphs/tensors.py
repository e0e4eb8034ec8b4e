"""Graphs written as arithmetic: each tensor is a node, and all of one graph share a list of nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor, from_array

Number = float | int | bool
DEVICE = "d0"


class GraphListing:
    """The nodes of one graph, in order."""

    def __init__(self) -> None:
        """Start with none."""
        self.nodes: list[Node] = []
        self.buffers: dict[str, tuple[tuple[int, ...], str]] = {}

    def add(self, op: str, shape: Sequence[int], dtype: str, of: Sequence[Lazy] = (), **more: object) -> Lazy:
        """List a node and return it as a tensor."""
        name = f"n{len(self.nodes)}"
        found: dict[str, object] = {"of": tuple(each.node.id for each in of), **more}
        node = Node(id=name, op=op, shape=tuple(shape), dtype=dtype, device=DEVICE, **found)  # type: ignore[arg-type]
        self.nodes.append(node)
        return Lazy(self, node)

    def buffer(self, *shape: int, dtype: str = "float32") -> Lazy:
        """List a buffer that holds data."""
        name = f"b{len(self.buffers)}"
        self.buffers[name] = shape, dtype
        return self.add("buf", shape, dtype, arg=name)

    def full(self, shape: Sequence[int], value: Number, dtype: str = "float32") -> Lazy:
        """List a constant."""
        return self.add("const", shape, dtype, arg=from_array(np.array(value).astype(NUMPY[dtype])))

    def arange(self, count: int, dtype: str = "int32") -> Lazy:
        """List the numbers from 0 on."""
        return self.add("iota", (count,), dtype, arg=0)

    def case(self, *asked: Sequence[Lazy], until: Sequence[int] = ()) -> GraphCase:
        """Return the case that asks for tensors in rounds; ``until`` ends all but the last. Buffers hold zeros."""
        ends = (*until, len(self.nodes))
        rounds = tuple(
            Round(until=end, asked=tuple(dict.fromkeys(each.node.id for each in wanted)))
            for end, wanted in zip(ends, asked, strict=True)
        )
        results = tuple(dict.fromkeys(name for each in rounds for name in each.asked))
        return GraphCase(
            graph=Graph(nodes=tuple(self.nodes), results=results),
            buffers={
                name: Tensor(dtype=dtype, shape=shape, bits="00" * (math.prod(shape) * NUMPY[dtype].itemsize))
                for name, (shape, dtype) in self.buffers.items()
            },
            rounds=rounds,
        )


class Lazy:
    """One tensor of a listing; operations list nodes, and broadcast as NumPy does."""

    def __init__(self, listing: GraphListing, node: Node) -> None:
        """Name a node that is listed."""
        self.listing, self.node = listing, node

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its extents."""
        return tuple(int(extent) for extent in self.node.shape)

    @property
    def dtype(self) -> str:
        """Return its dtype."""
        return self.node.dtype

    def alu(self, op: str, *others: Lazy | Number) -> Lazy:
        """Return an elementwise operation on this and other tensors or numbers."""
        made = [self._like(each) for each in others]
        shape = np.broadcast_shapes(self.shape, *(each.shape for each in made))
        of = [each.broadcast(shape) for each in (self, *made)]
        dtype = "bool" if op in COMPARISONS else of[-1].dtype
        return self.listing.add("alu", shape, dtype, of, arg=op)

    def _like(self, other: Lazy | Number) -> Lazy:
        dtype = "float32" if self.dtype == "bool" else self.dtype
        return other if isinstance(other, Lazy) else self.listing.full(self.shape, other, dtype)

    def __add__(self, other: Lazy | Number) -> Lazy:
        """Return the sum."""
        return self.alu("add", other)

    def __sub__(self, other: Lazy | Number) -> Lazy:
        """Return the difference."""
        return self.alu("sub", other)

    def __mul__(self, other: Lazy | Number) -> Lazy:
        """Return the product."""
        return self.alu("mul", other)

    def __truediv__(self, other: Lazy | Number) -> Lazy:
        """Return the quotient."""
        return self.alu("div", other)

    def __matmul__(self, other: Lazy) -> Lazy:
        """Return the matrix product, as a product of two broadcasts and a sum."""
        (n, k), (_, m) = self.shape, other.shape
        left = self.reshape(n, 1, k)
        right = other.permute(1, 0).reshape(1, m, k)
        return (left * right).sum(2)

    def __neg__(self) -> Lazy:
        """Return the negative."""
        return self.alu("neg")

    def relu(self) -> Lazy:
        """Return what is greater than 0, or 0."""
        return self.alu("max", 0)

    def exp(self) -> Lazy:
        """Return e to this power, by way of 2."""
        return (self * (1 / math.log(2))).alu("exp2")

    def elu(self) -> Lazy:
        """Return the exponential linear unit."""
        return self.relu() - (self.exp() * -1 + 1).relu()

    def where(self, yes: Lazy, no: Lazy) -> Lazy:
        """Return one of two values where this is true, the other elsewhere."""
        return self.listing.add("alu", self.shape, yes.dtype, (self, yes, no), arg="where")

    def cast(self, dtype: str) -> Lazy:
        """Return it in another dtype."""
        return self.listing.add("cast", self.shape, dtype, (self,))

    def bitcast(self, dtype: str) -> Lazy:
        """Return its bits as another dtype."""
        return self.listing.add("bitcast", self.shape, dtype, (self,))

    def reduce(self, fold: str, axes: Sequence[int] | int | None = None, *, keep: bool = False) -> Lazy:
        """Return a fold along axes, all of them for ``None``."""
        given = range(len(self.shape)) if axes is None else (axes,) if isinstance(axes, int) else axes
        gone = tuple(sorted(axis % len(self.shape) for axis in given))
        shape = tuple(extent for axis, extent in enumerate(self.shape) if axis not in gone)
        made = self.listing.add("reduce", shape, self.dtype, (self,), arg=gone, fold=fold)
        kept = tuple(1 if axis in gone else extent for axis, extent in enumerate(self.shape))
        return made.reshape(*kept) if keep else made

    def sum(self, axes: Sequence[int] | int | None = None, *, keep: bool = False) -> Lazy:
        """Return the sum along axes."""
        return self.reduce("add", axes, keep=keep)

    def max(self, axes: Sequence[int] | int | None = None, *, keep: bool = False) -> Lazy:
        """Return the maximum along axes."""
        return self.reduce("max", axes, keep=keep)

    def mean(self, axes: Sequence[int] | int | None = None, *, keep: bool = False) -> Lazy:
        """Return the mean along axes."""
        made = self.sum(axes, keep=keep)
        return made * (math.prod(made.shape) / math.prod(self.shape))

    def var(self, axes: Sequence[int] | int | None = None, *, keep: bool = False, less: int = 1) -> Lazy:
        """Return the variance along axes."""
        away = self - self.mean(axes, keep=True)
        made = (away * away).sum(axes, keep=keep)
        return made / (math.prod(self.shape) / math.prod(made.shape) - less)

    def std(self, axes: Sequence[int] | int | None = None, *, keep: bool = False) -> Lazy:
        """Return the standard deviation along axes."""
        return self.var(axes, keep=keep).alu("sqrt")

    def softmax(self) -> Lazy:
        """Return the softmax along the last axis."""
        made = (self - self.max(-1, keep=True)).exp()
        return made / made.sum(-1, keep=True)

    def layernorm(self) -> Lazy:
        """Return it with mean 0 and variance 1 along the last axis."""
        away = self - self.mean(-1, keep=True)
        return away * ((away * away).mean(-1, keep=True) + 1e-5).alu("sqrt").alu("recip")

    def reshape(self, *shape: int) -> Lazy:
        """Return it in another shape."""
        if -1 in shape:
            rest = -math.prod(shape)
            shape = tuple(math.prod(self.shape) // rest if extent == -1 else extent for extent in shape)
        return self if shape == self.shape else self.listing.add("reshape", shape, self.dtype, (self,))

    def permute(self, *axes: int) -> Lazy:
        """Return it with its axes in another order."""
        return self.listing.add("permute", [self.shape[axis] for axis in axes], self.dtype, (self,), arg=axes)

    def expand(self, *shape: int) -> Lazy:
        """Return it repeated along axes of extent 1."""
        return self if shape == self.shape else self.listing.add("expand", shape, self.dtype, (self,))

    def broadcast(self, shape: Sequence[int]) -> Lazy:
        """Return it in the shape of another operand."""
        lead = (1,) * (len(shape) - len(self.shape))
        return self.reshape(*lead, *self.shape).expand(*shape)

    def pad(self, *pairs: tuple[int, int]) -> Lazy:
        """Return it with zeros before and after each axis."""
        shape = [extent + sum(pair) for extent, pair in zip(self.shape, pairs, strict=True)]
        return self.listing.add("pad", shape, self.dtype, (self,), arg=pairs)

    def shrink(self, *pairs: tuple[int, int]) -> Lazy:
        """Return a range of each axis."""
        return self.listing.add("shrink", [end - begin for begin, end in pairs], self.dtype, (self,), arg=pairs)

    def flip(self, *axes: int) -> Lazy:
        """Return it mirrored along axes."""
        return self.listing.add("flip", self.shape, self.dtype, (self,), arg=axes)

    def contiguous(self) -> Lazy:
        """Return it stored by itself."""
        return self.listing.add("contig", self.shape, self.dtype, (self,))

    def assign(self, value: Lazy) -> Lazy:
        """Write a value into this storage."""
        return self.listing.add("assign", self.shape, self.dtype, (self, value))

    def gather(self, axis: int, index: Lazy) -> Lazy:
        """Return the elements along an axis that ``index`` numbers."""
        shape = (*self.shape[:axis], *index.shape, *self.shape[axis + 1 :])
        return self.listing.add("gather", shape, self.dtype, (self, index), arg=axis)

    def windows(self, size: int) -> Lazy:
        """Return the square windows of an image: the last two axes become four, positions and places within."""
        *lead, height, width = self.shape
        out = height - size + 1, width - size + 1
        made = self
        for axis, extent, count in ((len(lead), height, out[0]), (len(lead) + 2, width, out[1])):
            # Repeated side by side, one element longer each time, the windows are rows.
            shape = made.shape
            wide = made.reshape(*shape[:axis], 1, *shape[axis:]).expand(*shape[:axis], size, *shape[axis:])
            wide = wide.reshape(*shape[:axis], size * extent, *shape[axis + 1 :])
            times = size * (extent + 1)
            wide = wide.pad(*((0, times - size * extent if at == axis else 0) for at in range(len(shape))))
            wide = wide.reshape(*shape[:axis], size, extent + 1, *shape[axis + 1 :])
            wide = wide.shrink(*((0, count) if at == axis + 1 else (0, e) for at, e in enumerate(wide.shape)))
            made = wide
        return made

    def conv(self, weight: Lazy) -> Lazy:
        """Return the convolution of images with square kernels, without padding: a product and a sum over windows."""
        count, channels, _, _ = self.shape
        filters, _, size, _ = weight.shape
        rows = self.windows(size)
        _, _, _, height, _, width = rows.shape
        spread = rows.reshape(count, 1, channels, size, height, size, width).expand(
            count, filters, channels, size, height, size, width
        )
        return (spread * weight.reshape(1, filters, channels, size, 1, size, 1)).sum((2, 3, 5))
