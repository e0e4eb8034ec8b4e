"""The cases that a run draws, each with where it came from; kept on disk, so that a seed is drawn once."""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

import hypothesis
import msgspec

import conformance
from conformance.cases.case import Case, digest
from conformance.runner.draws import draw_cases
from conformance.runner.log.environment import digests
from conformance.runner.plan import Plan

T = TypeVar("T")

FOLDER: Final = "CONFORMANCE_CACHE"
"""The environment variable that names the folder of what is drawn once."""


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


def kept(name: str, kind: type[T], make: Callable[[], T]) -> T:
    """Return what ``make`` makes, from disk where this specification has made it before."""
    had = found(name, kind)
    if had is None:
        keep(name, had := make())
    return had


def found(name: str, kind: type[T]) -> T | None:
    """Return what was kept by a name, ``None`` where nothing was, or only a part of it."""
    try:
        return msgspec.json.decode(zlib.decompress((folder() / f"{name}.zlib").read_bytes()), type=kind)
    except (OSError, zlib.error, msgspec.MsgspecError):
        return None


def keep(name: str, made: object) -> None:
    """Keep something on disk, where others find it once all of it is there."""
    path = folder() / f"{name}.zlib"
    beside = path.with_suffix(f".{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside.write_bytes(zlib.compress(msgspec.json.encode(made), 1))
    beside.replace(path)


def folder() -> Path:
    """Return where this specification's cases are kept: below the user's cache, or below what the environment names."""
    base = os.environ.get(FOLDER) or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mesh-conformance"
    )
    spec, reference = digests()
    versions = (spec, reference, conformance.__version__, hypothesis.__version__, sys.version)
    return Path(base, hashlib.sha256("\0".join(versions).encode()).hexdigest()[:16])
