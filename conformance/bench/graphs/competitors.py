"""Who computes the timed graphs: each made ready on its own inputs, compiled where it compiles."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from conformance.bench.graphs.tensors import GraphListing, Lazy
from conformance.bench.graphs.timed_graphs import Timed
from conformance.cases.tensor.dtypes import Array

CORES: Final = os.cpu_count() or 1


class Ready(NamedTuple):
    """``run`` computes once and returns when the result is there, which ``array`` makes an array of NumPy."""

    run: Callable[[], Any]
    array: Callable[[Any], Array]


class OfNumPy:
    """The words of NumPy, and of what is written after it."""

    def __init__(self, module: Any = np) -> None:
        """Take the module."""
        self._np = module

    def absolute(self, x: Any) -> Any:
        """Return the absolute value."""
        return self._np.abs(x)

    def root(self, x: Any) -> Any:
        """Return the square root."""
        return self._np.sqrt(x)

    def atleast(self, x: Any, low: float) -> Any:
        """Return the greater of ``x`` and a number."""
        return self._np.maximum(x, low)

    def total(self, x: Any, axis: int | None) -> Any:
        """Return the sum."""
        return x.sum(axis)

    def turned(self, x: Any) -> Any:
        """Return the transposed matrix."""
        return x.T

    def padded(self, x: Any) -> Any:
        """Return the matrix with zeros around it."""
        return self._np.pad(x, 1)

    def softmax(self, x: Any) -> Any:
        """Return the softmax along the last axis."""
        made = self._np.exp(x - x.max(-1, keepdims=True))
        return made / made.sum(-1, keepdims=True)

    def layernorm(self, x: Any) -> Any:
        """Return the values normalised along the last axis."""
        away = x - x.mean(-1, keepdims=True)
        return away / self._np.sqrt((away * away).mean(-1, keepdims=True) + 1e-5)


class OfJax(OfNumPy):
    """The words of JAX."""

    def softmax(self, x: Any) -> Any:
        """Return the softmax along the last axis."""
        import jax

        return jax.nn.softmax(x)


class OfTorch:
    """The words of Torch."""

    def __init__(self, module: Any) -> None:
        """Take the module."""
        self._torch = module

    def absolute(self, x: Any) -> Any:
        """Return the absolute value."""
        return x.abs()

    def root(self, x: Any) -> Any:
        """Return the square root."""
        return x.sqrt()

    def atleast(self, x: Any, low: float) -> Any:
        """Return the greater of ``x`` and a number."""
        return x.clamp_min(low)

    def total(self, x: Any, axis: int | None) -> Any:
        """Return the sum."""
        return x.sum() if axis is None else x.sum(axis)

    def turned(self, x: Any) -> Any:
        """Return the transposed matrix."""
        return x.T

    def padded(self, x: Any) -> Any:
        """Return the matrix with zeros around it."""
        return self._torch.nn.functional.pad(x, (1, 1, 1, 1))

    def softmax(self, x: Any) -> Any:
        """Return the softmax along the last axis."""
        return self._torch.softmax(x, -1)

    def layernorm(self, x: Any) -> Any:
        """Return the values normalised along the last axis."""
        return self._torch.nn.functional.layer_norm(x, x.shape[-1:])


class OfTinygrad:
    """The words of tinygrad."""

    def absolute(self, x: Any) -> Any:
        """Return the absolute value."""
        return x.abs()

    def root(self, x: Any) -> Any:
        """Return the square root."""
        return x.sqrt()

    def atleast(self, x: Any, low: float) -> Any:
        """Return the greater of ``x`` and a number."""
        return x.maximum(low)

    def total(self, x: Any, axis: int | None) -> Any:
        """Return the sum."""
        return x.sum(axis)

    def turned(self, x: Any) -> Any:
        """Return the transposed matrix."""
        return x.T

    def padded(self, x: Any) -> Any:
        """Return the matrix with zeros around it."""
        return x.pad(((1, 1), (1, 1)))

    def softmax(self, x: Any) -> Any:
        """Return the softmax along the last axis."""
        return x.softmax(-1)

    def layernorm(self, x: Any) -> Any:
        """Return the values normalised along the last axis."""
        return x.layernorm()


class OfGraphs:
    """The words of the graph dialect."""

    def absolute(self, x: Lazy) -> Lazy:
        """Return the absolute value."""
        return x.alu("abs")

    def root(self, x: Lazy) -> Lazy:
        """Return the square root."""
        return x.alu("sqrt")

    def atleast(self, x: Lazy, low: float) -> Lazy:
        """Return the greater of ``x`` and a number."""
        return x.alu("max", low)

    def total(self, x: Lazy, axis: int | None) -> Lazy:
        """Return the sum."""
        return x.sum(axis)

    def turned(self, x: Lazy) -> Lazy:
        """Return the transposed matrix."""
        return x.permute(1, 0)

    def padded(self, x: Lazy) -> Lazy:
        """Return the matrix with zeros around it."""
        return x.pad((1, 1), (1, 1))

    def softmax(self, x: Lazy) -> Lazy:
        """Return the softmax along the last axis."""
        return x.softmax()

    def layernorm(self, x: Lazy) -> Lazy:
        """Return the values normalised along the last axis."""
        return x.layernorm()


def numpy(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
    """Return the graph computed at once, one operation after the other."""
    return Ready(lambda: graph.made(OfNumPy(), *inputs), np.asarray)


def jax(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
    """Return the graph under ``jit``."""
    import jax
    import jax.numpy as jnp

    given = [jax.device_put(each) for each in inputs]
    made = jax.jit(lambda *xs: graph.made(OfJax(jnp), *xs))
    return Ready(lambda: made(*given).block_until_ready(), np.asarray)


def torch(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
    """Return the graph computed at once by Torch on all cores."""
    return _torch(graph, inputs, compiled=False)


def torch_compile(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
    """Return the graph under ``torch.compile``, for these sizes."""
    return _torch(graph, inputs, compiled=True)


def _torch(graph: Timed, inputs: tuple[Array, ...], *, compiled: bool) -> Ready:
    import torch

    torch.set_num_threads(CORES)
    given = [torch.from_numpy(each) for each in inputs]
    words = OfTorch(torch)

    def plain(*xs: Any) -> Any:
        return graph.made(words, *xs)

    if compiled:
        torch.compiler.reset()  # what was compiled for another size makes the next one of any size
    made = torch.compile(plain, dynamic=False) if compiled else plain
    return Ready(lambda: made(*given), lambda found: np.asarray(found.numpy()))


def tinygrad(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
    """Return the graph under ``TinyJit``; raise ``RuntimeError`` where there is no clang for its kernels."""
    module: Any = import_module("tinygrad")
    device = module.Device[module.Device.DEFAULT]
    given = [module.Tensor(each).realize() for each in inputs]

    @module.TinyJit  # type: ignore[untyped-decorator]
    def made(*xs: Any) -> Any:
        return graph.made(OfTinygrad(), *xs).realize()

    def run() -> Any:
        found = made(*given)
        device.synchronize()
        return found

    for _ in range(2):
        run()
    return Ready(run, lambda found: np.asarray(found.numpy()))


def opencl(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
    """Return the graph as the native engine has it."""
    from conformance.backends.discovery import find, load
    from conformance.backends.opencl import OpenCL

    backend = load(find("opencl"))
    assert isinstance(backend, OpenCL)
    listing = GraphListing()
    taken = [listing.buffer(*each.shape) for each in inputs]
    asked = graph.made(OfGraphs(), *taken)
    held = backend.graphs.held(listing.case((asked,)), {f"b{n}": each for n, each in enumerate(inputs)})

    def run() -> Any:
        started = held.launch()
        started.wait()
        return started

    return Ready(run, lambda started: started.read(asked.node.id))


def copy(graph: Timed, inputs: tuple[Array, ...]) -> Ready:
    """Return a copy of as many bytes as the graph must read and write, one thread a core."""
    result = graph.made(OfNumPy(), *inputs)
    size = (sum(each.nbytes for each in inputs) + np.asarray(result).nbytes) // 2
    source, target = np.ones(size, np.uint8), np.empty(size, np.uint8)
    cuts = [(size * part // CORES, size * (part + 1) // CORES) for part in range(CORES)]
    pool = ThreadPoolExecutor(CORES)

    def part(cut: tuple[int, int]) -> None:
        np.copyto(target[cut[0] : cut[1]], source[cut[0] : cut[1]])

    return Ready(lambda: list(pool.map(part, cuts)), lambda _: np.asarray(result))


Competitor = Callable[[Timed, tuple[Array, ...]], Ready]

COMPETING: Final[dict[str, Competitor]] = {
    "opencl": opencl,
    "numpy": numpy,
    "jax": jax,
    "torch": torch,
    "torch-compile": torch_compile,
    "tinygrad": tinygrad,
    "copy": copy,
}
"""Who may be measured; the copy is no competitor but the measure of the memory."""
