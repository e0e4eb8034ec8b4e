"""Graph cases on ``torch.compile``: each round is traced to one function of storages and values, and compiled whole."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from conformance.backends.attribution import framework
from conformance.backends.base import Claims
from conformance.backends.spent_seconds import compiling
from conformance.backends.torch import graphs
from conformance.cases.declarations.number_model import SHORT, Declared
from conformance.cases.graph.case import GraphCase
from conformance.cases.tensor.dtypes import Array

CLAIMS: Final[Claims] = {
    "graph": {**graphs.CLAIMS["graph"], "size": ["small"]},
    "schedule_of_graph": {},
}
"""What eager execution has, of graphs that are compiled in seconds: a compiler's time grows with their length."""

NUMBERS: Final[Declared] = {"intermediates": dict.fromkeys(SHORT, "excess")}
"""Of ``emulate_precision_casts``, which is off by default, torch._inductor.config says: "When two low precision
operators are fused together, Inductor will elide the downcast-upcast pairs"."""


def run(case: GraphCase) -> dict[str, Array]:
    """Return what the rounds of a case ask for and read, each round compiled by Inductor."""
    return Compiled(case).run()


class Compiled(graphs.Eager):
    """A case whose rounds are functions: what they list is traced on copies, and then runs compiled on the storages."""

    def begin(self, number: int) -> None:
        """Write what is written from outside, then run the round as one compiled function."""
        self.write_from_outside(number)
        self.given = self._round(number)

    def answers(self, names: tuple[str, ...]) -> list[Array]:
        """Return what the function of the round gave."""
        return self.arrays(self.given)

    def _round(self, number: int) -> list[torch.Tensor]:
        """Compile and run a round; keep what later ones take of it, and return what it asks for."""
        names, earlier = list(self.storages), list(self.values)
        later = self._taken_later(number)
        kept: list[str] = []

        def listed(storages: list[torch.Tensor], values: list[torch.Tensor]) -> list[torch.Tensor]:
            self.storages = dict(zip(names, storages, strict=True))
            self.values = dict(zip(earlier, values, strict=True))
            self.list_nodes(number)
            kept[:] = [name for name in self.values if name in later and name not in earlier]
            asked = [self.value(name) for name in self.case.rounds[number].asked]
            return [*asked, *(self.values[name] for name in kept)]

        storages, values = list(self.storages.values()), list(self.values.values())
        # Tracing computes as well, so on copies; what it raises is raised by the calls that it makes.
        tracing: Any = make_fx(listed)
        traced = tracing([each.clone() for each in storages], [each.clone() for each in values])
        with framework():
            torch.compiler.reset()
            compiled: Any = torch.compile(traced, fullgraph=True, dynamic=False)
            with compiling():  # what it computes is little beside
                given = compiled(storages, values)
        self.storages = dict(zip(names, storages, strict=True))
        count = len(self.case.rounds[number].asked)
        self.values = dict(zip([*earlier, *kept], [*values, *given[count:]], strict=True))
        return list(given[:count])

    def _taken_later(self, number: int) -> set[str]:
        """Return the nodes that rounds after one take or ask for."""
        found: set[str] = set()
        for other in range(number + 1, len(self.case.rounds)):
            found.update(self.case.rounds[other].asked)
            found.update(name for node in self.case.listed(other) for name in node.of)
        return found
