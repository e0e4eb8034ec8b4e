"""The cases that a run draws, each with where it came from; kept on disk, so that a seed is drawn once."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

import msgspec

from conformance.cases.case import Case, digest
from conformance.qualification.kept import folder, kept
from conformance.runner.draws import draw_cases
from conformance.runner.plan import Plan

LARGE: Final = 1 << 16
"""Hex digits from which a case is held packed: the 216 cases of the suite ``long`` have 1.3 GB, all others 32 MB."""


class Drawn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A case, the suite and the operation whose domain it is of, and how many were drawn there before it.

    ``name`` is the digest of the case, which is ``packed`` where it is large.
    """

    suite: str
    op: str
    index: int
    name: str
    held: Case | None = None
    packed: bytes = b""

    @property
    def case(self) -> Case:
        """Return the case, unpacked where it is not held."""
        return self.held or msgspec.msgpack.decode(zlib.decompress(self.packed), type=Case)

    @property
    def large(self) -> bool:
        """Return whether the case is packed."""
        return self.held is None


def drawn_case(case: Case, suite: str, op: str, index: int) -> Drawn:
    """Return a case with where it came from."""
    digits = sum(len(block.bits) for operand in case.inputs.values() for block in operand.blocks)
    if digits < LARGE:
        return Drawn(suite, op, index, digest(case), case)
    return Drawn(suite, op, index, digest(case), packed=zlib.compress(msgspec.msgpack.encode(case), 1))


def drawn_cases(seed: int, examples: int, suites: Sequence[str], ops: Sequence[str]) -> tuple[Drawn, ...]:
    """Return the distinct cases of a seed, the first draws of every suite and operation before the second ones."""
    parts = (drawn_part(suite, op, examples, seed) for suite, op in _parts(suites, ops))
    listed: dict[str, Drawn] = {}
    for each in sorted((each for part in parts for each in part), key=lambda each: each.index):
        listed.setdefault(each.name, each)
    return tuple(listed.values())


def _parts(suites: Sequence[str], ops: Sequence[str]) -> list[tuple[str, str]]:
    return [(draws.suite, op) for op in ops for draws in Plan(ops=(op,), examples=1, suites=tuple(suites)).draws()]


def undrawn(seed: int, examples: int, suites: Sequence[str], ops: Sequence[str]) -> list[tuple[str, str]]:
    """Return each suite and operation whose cases of a seed are not on disk."""
    where = folder()
    return [part for part in _parts(suites, ops) if not (where / f"{_name(*part, examples, seed)}.zlib").exists()]


def drawn_part(suite: str, op: str, examples: int, seed: int) -> tuple[Drawn, ...]:
    """Return the distinct cases of one suite and operation, which are on disk from then on."""
    return kept(_name(suite, op, examples, seed), tuple[Drawn, ...], _drawing(suite, op, examples, seed))


def _name(suite: str, op: str, examples: int, seed: int) -> str:
    return f"cases-{seed}-{examples}-{suite}-{op}"


def _drawing(suite: str, op: str, examples: int, seed: int) -> Callable[[], tuple[Drawn, ...]]:
    def draw() -> tuple[Drawn, ...]:
        draws = Plan(ops=(op,), examples=examples).of(suite, op)
        listed: dict[str, Drawn] = {}
        index = count()

        def take(case: Case) -> None:
            made = drawn_case(case, suite, op, next(index))
            listed.setdefault(made.name, made)

        draw_cases(draws.domain, draws.examples, seed, take)
        return tuple(listed.values())

    return draw
