"""Programs that JAX compiled or refused, kept until there are too many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from conformance.backends.exceptions import RaisedElsewhere, rank_error
from conformance.backends.jax.kinds import kinds
from conformance.backends.spent_seconds import compiling
from conformance.cases.observation import RankError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.backends.case_arrays import Placed
    from conformance.backends.jax.per_rank import Ranks, Whole
    from conformance.backends.jax.typed_programs import Jitted
    from conformance.cases.case import Case
    from conformance.cases.program.program import Program
    from conformance.cases.tensor.dtypes import Array

FRESH: Final = 64
"""Programs made, compiled or refused, before all are dropped, with what JAX remembers of them.

A run asks for few of them twice, and then soon. Resident memory grows by 1.3 MB a program of one collective, 5 one that
is dispatched step by step (jaxlib 0.10.2, Linux). After 208 programs of all_gather a process has 320 MB with 64, 388
with 128 and 496 with 512, for 9.4, 9.5 and 8.7 seconds of processor time."""


class KeptPrograms:
    """Programs of collectives, their steps, and typed programs, each by what it was made of.

    ``fresh`` counts those made since the last were dropped.
    """

    def __init__(self, over: Callable[[Program], Ranks], *, adapts: bool) -> None:
        """Keep none yet; ``over`` returns the ranks of a program."""
        self._over, self._adapts = over, adapts
        self.cache: dict[bytes, Whole | RankError] = {}
        self.typed: dict[bytes, Jitted | RankError] = {}
        self._calls: dict[bytes, Any] = {}
        self.fresh = 0

    def program(self, case: Case, inputs: Mapping[str, list[Array]]) -> Whole | RankError:
        """Return the program compiled for the case's shapes and dtypes, or how JAX refused; raise ``Unsupported``."""
        key = msgspec.json.encode((case.program, kinds(case)))
        if key not in self.cache:
            self.make_room()
            self.cache[key] = self._compiled(case.program, inputs)
        return self.cache[key]

    def dispatched(self, case: Case, placed: Placed) -> dict[str, list[Array]]:
        """Return the results of a program that is dispatched step by step."""
        from conformance.backends.jax.effects import dispatched

        kinds(case)
        self.make_room(len(case.program.steps))
        return dispatched(case, placed, self._over(case.program), self._calls)

    def _compiled(self, program: Program, inputs: Mapping[str, list[Array]]) -> Whole | RankError:
        from conformance.backends.jax.per_rank import whole

        try:
            with compiling():
                made = whole(program, self._over(program))
                made.compile(inputs)
        except Exception as refusal:  # noqa: BLE001 - as data, for the exception would keep all that was traced
            return rank_error(refusal, adapts=self._adapts)
        return made

    def jitted(self, what: tuple[Any, ...], make: Callable[[], Jitted], given: Mapping[str, list[Array]]) -> Jitted:
        """Return what was made for a typed program and compiled before, or make it; raise how JAX refused it."""
        key = msgspec.json.encode(what)
        if key not in self.typed:
            self.make_room()
            self.typed[key] = self._made(make, given)
        found = self.typed[key]
        if isinstance(found, RankError):
            raise RaisedElsewhere(found)
        return found

    def _made(self, make: Callable[[], Jitted], given: Mapping[str, list[Array]]) -> Jitted | RankError:
        try:
            with compiling():
                made = make()
                made.compile(given)
        except Exception as refusal:  # noqa: BLE001 - as data, for the exception would keep all that was traced
            return rank_error(refusal, adapts=self._adapts)
        return made

    def make_room(self, programs: int = 1) -> None:
        """Count programs that are about to be made, and drop the others where they are too many."""
        if self.fresh >= FRESH:
            self.drop()
        self.fresh += programs

    def drop(self) -> None:
        """Drop all programs, and what JAX remembers of them."""
        import jax

        self.fresh = 0
        self.cache.clear()
        self._calls.clear()
        self.typed.clear()
        # What JAX remembers of tracing and compiling: growth by 14 KB a fresh case becomes 5.
        jax.clear_caches()
