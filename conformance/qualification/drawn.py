"""The cases that a run draws, each with where it came from; kept on disk, so that a seed is drawn once."""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Callable, Sequence
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


class Drawn(msgspec.Struct, frozen=True):
    """A case, the suite and the operation whose domain it is of, and how many were drawn there before it."""

    case: Case
    suite: str
    op: str
    index: int

    @property
    def name(self) -> str:
        """Return the digest of the case."""
        return digest(self.case)


def drawn_cases(seed: int, examples: int, suites: Sequence[str], ops: Sequence[str]) -> tuple[Drawn, ...]:
    """Return the distinct cases of a seed, the first draws of every suite and operation before the second ones."""
    parts = (kept(f"cases-{seed}-{examples}-{suite}-{op}", tuple[Drawn, ...], _drawing(suite, op, examples, seed))
             for op in ops for suite in _drawing_suites(op, suites))  # fmt: skip
    found: dict[str, Drawn] = {}
    for each in sorted((each for part in parts for each in part), key=lambda each: each.index):
        found.setdefault(each.name, each)
    return tuple(found.values())


def _drawing_suites(op: str, suites: Sequence[str]) -> list[str]:
    return [draws.suite for draws in Plan(ops=(op,), examples=1, suites=tuple(suites)).draws()]


def _drawing(suite: str, op: str, examples: int, seed: int) -> Callable[[], tuple[Drawn, ...]]:
    def draw() -> tuple[Drawn, ...]:
        draws = Plan(ops=(op,), examples=examples).of(suite, op)
        every: list[Case] = []
        draw_cases(draws.domain, draws.examples, seed, every.append)
        found: dict[str, Drawn] = {}
        for index, case in enumerate(every):
            found.setdefault(digest(case), Drawn(case, suite, op, index))
        return tuple(found.values())

    return draw


def kept(name: str, kind: type[T], make: Callable[[], T]) -> T:
    """Return what ``make`` makes, from disk where this specification has made it before."""
    path = folder() / f"{name}.zlib"
    try:
        return msgspec.json.decode(zlib.decompress(path.read_bytes()), type=kind)
    except (OSError, zlib.error, msgspec.MsgspecError):
        made = make()
    content = zlib.compress(msgspec.json.encode(made), 1)
    beside = path.with_suffix(f".{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside.write_bytes(content)
    beside.replace(path)
    return made


def folder() -> Path:
    """Return where this specification's cases are kept: below the user's cache, or below what the environment names."""
    base = os.environ.get(FOLDER) or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mesh-conformance"
    )
    spec, reference = digests()
    versions = (spec, reference, conformance.__version__, hypothesis.__version__, sys.version)
    return Path(base, hashlib.sha256("\0".join(versions).encode()).hexdigest()[:16])
