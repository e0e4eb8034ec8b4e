"""The checker of types beside somebody else's: which drawn programs both accept, and which both refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from conformance.backends.base import Backend, Types
from conformance.backends.exceptions import rank_error
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.types.typed_case import typed_id
from conformance.cases.types.typed_program import TypedProgram
from conformance.generate.types.data import typed_cases
from conformance.judging.typed import not_implemented
from conformance.runner.draws import numbered
from conformance.specs.types.jax_rules import DIFFERENCES, together, verdict


@dataclass
class Verdicts:
    """How many programs were judged, of how many nothing was said, and on how many both said the same.

    ``classes`` counts the others by what explains them, and ``types`` the programs that both accept with other types.
    ``unexplained`` has for each of the rest its id and what was said.
    """

    judged: int = 0
    silent: int = 0
    alike: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return on what share of the programs judged both said the same."""
        return self.alike / self.judged if self.judged else 0.0

    @property
    def prescribed(self) -> int:
        """Return on how many programs the verdicts differ because the specification departs from JAX on purpose."""
        return sum(count for name, count in self.classes.items() if name != SEVERAL and DIFFERENCES[name].prescribed)

    @property
    def share_of_others(self) -> float:
        """Return on what share of the programs judged, less those of prescribed differences, both said the same."""
        others = self.judged - self.prescribed
        return self.alike / others if others else 0.0

    def __add__(self, other: Verdicts) -> Verdicts:
        """Return the verdicts on the programs of both."""
        return Verdicts(
            self.judged + other.judged,
            self.silent + other.silent,
            self.alike + other.alike,
            self.classes + other.classes,
            self.types + other.types,
            self.unexplained + other.unexplained,
        )

    def __str__(self) -> str:
        """Return the numbers in two lines, and a line for each program that nothing explains."""
        known = sum(self.classes.values()) / self.judged if self.judged else 0.0
        return "\n".join(
            [
                f"{self.judged} programs judged, {self.silent} without a verdict",
                f"{self.share:.1%} alike, {known:.1%} otherwise by a listed class",
                f"verdicts: {dict(self.classes)}; types: {dict(self.types)}",
                *self.unexplained,
            ]
        )


SEVERAL: Final = "several"
"""What explains a verdict that only all classes together explain."""


def types_of(backend: Backend) -> Callable[[TypedProgram], Types]:
    """Return what gives the types that a backend says a program has: without a run of it where the backend can."""
    alone = getattr(backend, "types", None)
    if alone is not None:
        return alone  # type: ignore[no-any-return]  # of an adapter that has it, as JAX's

    def found(program: TypedProgram) -> Types:
        inputs = {
            name: [np.zeros(given.shape, NUMPY[given.dtype])] * program.world for name, given in program.inputs.items()
        }
        return backend.typed(program, inputs)[0]

    return found


def compare(types: Callable[[TypedProgram], Types], start: int, stop: int, seed: int = 0) -> Verdicts:
    """Return how the checker's verdicts on the draws from ``start`` to ``stop`` compare with those of ``types``.

    That returns the type of each value that a step makes, and raises where it refuses a program. An exception that
    says that something is not implemented is no verdict.
    """
    found = Verdicts()
    for number in range(start, stop):
        case = numbered(typed_cases(), seed, number)[0]
        program = case.program
        try:
            seen, said = dict(types(program)), ""
        except Exception as error:  # noqa: BLE001 - whatever is raised is a refusal, unless it says otherwise
            if not_implemented(rank_error(error)):
                found.silent += 1
                continue
            seen, said = None, f"{type(error).__name__}: {error}"
        found.judged += 1
        _count(found, program, seen, f"{number} {typed_id(case)}: {said or seen}")
    return found


def _count(found: Verdicts, program: TypedProgram, seen: Types | None, line: str) -> None:
    mine = verdict(program, {})
    if (mine is None) == (seen is None):
        found.alike += 1
        if seen is not None and not _same(program, mine, seen):
            name = _class(program, seen)
            found.types[name or "none"] += 1
            found.unexplained += [] if name else [line]
        return
    name = _class(program, seen)
    if name is None:
        found.unexplained.append(line)
    else:
        found.classes[name] += 1


def _class(program: TypedProgram, seen: Types | None) -> str | None:
    """Return the class that explains what was said: one alone, or all of them together."""
    for name in DIFFERENCES:
        if _said(program, seen, name):
            return name
    return SEVERAL if _said(program, seen, *DIFFERENCES) else None


def _said(program: TypedProgram, seen: Types | None, *names: str) -> bool:
    theirs = verdict(program, together(*names))
    if theirs is None or seen is None:
        return theirs is None and seen is None
    return _same(program, theirs, seen)


def _same(program: TypedProgram, mine: Mapping[str, object] | None, seen: Types) -> bool:
    return mine is not None and all(seen.get(step.output) == mine[step.output] for step in program.steps)
