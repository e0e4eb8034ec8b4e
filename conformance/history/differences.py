"""What differs between two runs beside what cases came to: what was asked, with which suite, where, of what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from typing import Any, Final, Literal

from conformance.history.outline import BackendOutline, HeaderOutline
from conformance.runner.log.backend_sources import SOURCES, is_ours
from conformance.runner.log.header import DECK, SLICE

Sort = Literal["plan", "suite", "terms", "claims", "package", "environment"]

PLAN: Final = ("suites", "ops", "seed", "examples", "profile")
"""What of a header says which cases are drawn."""

JUDGES: Final = ("mesh-conformance", "specification version", "numpy", "ml_dtypes", "hypothesis", "msgspec", "python")
"""What of an environment draws, computes what is right, and judges."""


@dataclass(frozen=True)
class Difference:
    """One thing that is ``before`` in one run and ``after`` in the other; ``None`` where a run does not have it.

    Of the sort ``plan`` is which cases are drawn; ``suite`` what is right (specification and reference); ``terms`` what
    the backend says of itself that its answers are judged by; ``claims`` what it is asked; ``package`` a distribution
    that pip installs; ``environment`` everything else.
    """

    sort: Sort
    name: str
    before: str | None
    after: str | None

    @property
    def words(self) -> str:
        """Return the difference for people; digests are short, and what is long is only named."""
        if self.sort in ("terms", "claims"):
            return f"{self.name} differ"
        old, new = (_short(each) for each in (self.before, self.after))
        return f"{self.name} {old} → {new}"


def _short(value: str | None) -> str:
    if value is None:
        return "(none)"
    return value[:12] if len(value) == 64 and not set(value) - set("0123456789abcdef") else value[:80]


def differences(
    before: HeaderOutline, after: HeaderOutline, old: BackendOutline | None, new: BackendOutline | None
) -> tuple[Difference, ...]:
    """Return what differs between two runs as far as one backend is concerned, ``old`` and ``new``."""
    return tuple(_differences(before, after, old, new))


def _differences(
    before: HeaderOutline, after: HeaderOutline, old: BackendOutline | None, new: BackendOutline | None
) -> Iterator[Difference]:
    for name in PLAN:
        yield from _differing("plan", name, getattr(before, name), getattr(after, name))
    yield from _differing("suite", "specification", before.spec_digest, after.spec_digest)
    yield from _differing("suite", "reference", before.reference_digest, after.reference_digest)
    if old is not None and new is not None:
        for name in ("guarantees", "follows", "number_model"):
            yield from _differing("terms", name.replace("_", " "), getattr(old, name), getattr(new, name))
        yield from _differing("claims", "claims", old.claims, new.claims)
        yield from _of_words(old.description, new.description)
        yield from _unknown(before, after, new.name)
    told = {*(old.description if old else {}), *(new.description if new else {})}
    name = new.name if new else ""
    yield from _of_words(_beside(before.environment, told, name), _beside(after.environment, told, name))


def _unknown(before: HeaderOutline, after: HeaderOutline, name: str) -> Iterator[Difference]:
    """Yield that nobody knows whether a backend is the same one: what two runs see then is no work of chance."""
    digest = f"{SOURCES}{name}"
    if before.environment.get(digest) is after.environment.get(digest) is None and not is_ours(name):
        yield Difference("environment", digest, "unknown", "unknown")


def _beside(environment: dict[str, str], told: set[str], name: str) -> dict[str, str]:
    """Return an environment without what a backend says of itself, which is told once, and the files of others."""
    others = {each for each in environment if each.startswith(SOURCES) and each != f"{SOURCES}{name}"}
    return {each: value for each, value in environment.items() if each not in told | others}


def _differing(sort: Sort, name: str, old: Any, new: Any) -> Iterator[Difference]:
    if old != new:
        yield Difference(sort, name, _text(old), _text(new))


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _of_words(old: dict[str, str], new: dict[str, str]) -> Iterator[Difference]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            sort: Sort = "package" if distribution(name) else "plan" if name in (DECK, SLICE) else "environment"
            yield Difference(sort, name, old.get(name), new.get(name))


NAMED: Final = {"jax", "jaxlib", "torch", "tinygrad", "mpi4py", "pyopencl", "numpy", "ml_dtypes", "mlx", "mpich"}
"""Distributions that descriptions name, whether they are installed here or not."""


def distribution(name: str) -> str | None:
    """Return the distribution that a description or environment names by ``name``; ``None`` where it names none.

    The suite itself is none: an older version of it cannot judge what a newer one drew.
    """
    plain = name.lower().replace("_", "-")
    if plain == "mesh-conformance":
        return None
    return plain if name in NAMED or plain in _installed() else None


@cache
def _installed() -> frozenset[str]:
    """Return the distributions that are installed here."""
    return frozenset(str(one.name).lower().replace("_", "-") for one in distributions())
