"""Six programs on sharded tensors whose speed is measured, each written once over the words of every framework."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from conformance.bench.graphs.timed_graphs import PLANE, SIZES, TIMED, Timed, Words


class Program(NamedTuple):
    """A graph, the axis along which each input is split, and that of its result; ``None`` is whole on every device."""

    of: Timed
    cut: tuple[int | None, ...]
    out: int | None


def _graph(name: str, made: Callable[..., Any], *shapes: tuple[tuple[int, ...], ...]) -> Timed:
    """Return a graph whose inputs have these shapes, one tuple a size."""
    return Timed(name, MappingProxyType(dict(zip(SIZES, shapes, strict=True))), made)


_PLANES: Final = tuple(((extent, extent),) for extent in PLANE)


def _step(words: Words, rows: Any, wanted: Any, weights: Any) -> Any:
    """Return weights after a step down the gradient of a linear model's square error, of which devices have rows."""
    away = rows @ weights - wanted
    return weights - (words.turned(rows) @ away) * 1e-5


_CHAIN: Final = next(each for each in TIMED if each.name == "chain of 10").made

PROGRAMS: Final = {
    each.of.name: each
    for each in (
        Program(_graph("elementwise chain", _CHAIN, *_PLANES), (0,), 0),
        Program(_graph("sum along the split axis", lambda w, a: w.total(a, 0), *_PLANES), (0,), None),
        Program(
            _graph(
                "matmul, rows by columns",
                lambda _, a, b: a @ b,
                ((64, 32), (32, 16)),
                ((1024, 256), (256, 64)),
                ((8192, 512), (512, 64)),
            ),
            (0, 1),
            0,
        ),
        Program(_graph("re-sharding 0 to 1", lambda _, a: a, *_PLANES), (0,), 1),
        Program(_graph("softmax across the split axis", lambda w, a: w.softmax(a), *_PLANES), (1,), 1),
        Program(
            _graph(
                "data-parallel step",
                _step,
                ((64, 32), (64, 16), (32, 16)),
                ((1024, 256), (1024, 16), (256, 16)),
                ((8192, 512), (8192, 16), (512, 16)),
            ),
            (0, 0, None),
            None,
        ),
    )
}
"""By name. Split inputs of the size ``large`` have 16 MiB."""
