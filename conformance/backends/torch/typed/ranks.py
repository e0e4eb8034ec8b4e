"""The rank processes that run typed programs, a pool for each number of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from conformance.backends.exceptions import RaisedElsewhere
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.processes.store import Store
from conformance.backends.torch.processes.world import World
from conformance.backends.torch.typed.rank import Answer, serve
from conformance.cases.observation import RankError
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import to_array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import TypedCase


class Ranks:
    """The processes of one world, whose collectives are ``operations``."""

    def __init__(self, world: int, store: Store, operations: Mapping[str, Operation]) -> None:
        """Start nothing yet."""
        self._processes: World[Answer] = World(world, store, partial(serve, operations), Answer)

    def ask(self, case: TypedCase) -> tuple[dict[str, AxisType], dict[str, list[Array]]]:
        """Return the types and blocks of what a case asks for; raise what ranks raised, where each did as the first."""
        answers = self._processes.ask(case)
        if isinstance(answers, str):
            raise RaisedElsewhere(RankError(kind="Crash", message=answers, category="no_answer"))
        if errors := [answer.error for answer in answers if answer.error is not None]:
            # Some may have left the others in the middle of a collective.
            self.close()
            raise RaisedElsewhere(errors[0])
        blocks = {name: [to_array(answer.results[name]) for answer in answers] for name in answers[0].results}
        return answers[0].types, blocks

    def close(self) -> None:
        """Kill the ranks."""
        self._processes.close()
