"""A wrong implementation of typed programs: the reference with something in it replaced while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from conformance.backends.observing import typed
from conformance.backends.reference import Reference
from conformance.cases.observation import Observation
from conformance.cases.types.typed_case import TypedCase


@dataclass(frozen=True)
class TypedMutant:
    """What is wrong, and what it puts in the place of what.

    ``names`` has values for dotted names of modules; ``entries`` for keys of a dictionary at such a name. ``case``
    changes what is asked before the reference is.
    """

    name: str
    text: str
    names: Mapping[str, Any] = field(default_factory=dict)
    entries: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    case: Callable[[TypedCase], TypedCase] = lambda case: case

    def observed(self, case: TypedCase) -> Observation:
        """Return what the mutant gives for a case."""
        with self.wrong():
            return typed(Reference(), self.case(case))

    @contextmanager
    def wrong(self) -> Iterator[None]:
        """Replace what it replaces, as long as the context lasts."""
        with ExitStack() as stack:
            for where, value in self.names.items():
                stack.enter_context(patch(where, value))
            for where, changes in self.entries.items():
                stack.enter_context(patch.dict(where, changes))
            yield
