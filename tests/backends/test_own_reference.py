"""A backend that answers by the suite's own reference says so, whatever it calls itself."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.backends.base import Backend
from conformance.backends.own_reference import NAME, told
from conformance.backends.reference import Reference
from conformance.reference.operations import OPERATIONS
from conformance.report.verdict import OWN_REFERENCE


class Inherits(Reference):
    """Has a broadcast of its own."""

    def broadcast(self, blocks: Any, **attributes: Any) -> Any:
        return blocks


class Borrows(Backend):
    """Has the reference's function for its method."""

    broadcast = staticmethod(OPERATIONS["broadcast"])


class Own(Backend):
    """Has all of its own."""

    def broadcast(self, blocks: Any, **attributes: Any) -> Any:
        return blocks


@pytest.mark.parametrize(
    ("backend", "claimed", "loaded", "said"),
    [
        (Reference, ("broadcast", "graph"), (), "broadcast, graph"),
        (Inherits, ("broadcast", "gather"), (), "gather"),
        (Borrows, ("broadcast",), (), "broadcast"),
        (Own, ("broadcast",), ("conformance.cases", "conformance.referenced"), None),
        (Own, ("broadcast",), ("conformance.reference.spmd",), "its modules import the reference"),
    ],
)
def test_what_answers_is_named(backend: type[Backend], claimed: Any, loaded: Any, said: str | None) -> None:
    assert told(backend(), claimed, loaded).get(NAME) == said
    assert NAME == OWN_REFERENCE
