"""Typed programs that have been made graphs of: one of the same structure is only given its contents."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from conformance.backends.opencl.typed.graph_builder import Blocks, Building, buffer
from conformance.cases.graph.case import GraphCase
from conformance.cases.tensor.dtypes import Array, logical

if TYPE_CHECKING:
    from conformance.backends.opencl.runtime.prepared import Prepared
    from conformance.backends.opencl.runtime.rounds import Graphs

MOST_PROGRAMS: Final = 1024
"""Programs that are kept, the least recently asked for dropped first: more than a default run has of a suite."""

Given = Mapping[str, list[Array]]
Values = Mapping[str, Blocks]


class MadeGraph(NamedTuple):
    """A graph on the contents that it was made of, where the blocks of each result are, and the graph made ready."""

    graph: GraphCase
    results: Values
    ready: Prepared | None = None


class GraphCache:
    """What typed programs were made, by all but the contents of what they are given."""

    def __init__(self, graphs: Graphs) -> None:
        """Start with none; ``graphs`` makes them ready and runs them."""
        self._graphs = graphs
        self._made: OrderedDict[bytes, MadeGraph] = OrderedDict()

    def results(
        self, asked: Sequence[Any], given: Sequence[Given], make: Callable[[Building, Sequence[Values]], Values]
    ) -> dict[str, list[Array]]:
        """Return the blocks of each result that ``make`` makes of what is given, run as one graph.

        What it makes is the same for the same ``asked`` and for blocks of the same dtypes and shapes.
        """
        forms = [[(name, *_forms(blocks)) for name, blocks in each.items()] for each in given]
        key = msgspec.msgpack.encode((asked, forms))
        made = self._made.get(key)
        if made is None:
            building = Building()
            put = [{name: building.put(blocks) for name, blocks in each.items()} for each in given]
            results = make(building, put)
            made = self._made[key] = MadeGraph(building.case(results), results)
            if len(self._made) > MOST_PROGRAMS:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        if made.ready is None:
            made = self._made[key] = made._replace(ready=self._graphs.prepared(made.graph, together=True))
        assert made.ready is not None
        arrays = (array for each in given for blocks in each.values() for array in blocks)
        found = self._graphs.again(made.ready, {buffer(number): array for number, array in enumerate(arrays)})
        return {
            name: [found[node].reshape(blocks.shape) for node in blocks.nodes] for name, blocks in made.results.items()
        }


def _forms(blocks: Sequence[Array]) -> tuple[str, tuple[int, ...], int]:
    return logical(blocks[0].dtype), blocks[0].shape, len(blocks)
