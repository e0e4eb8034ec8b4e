"""What a profile demands, as data: which operations, dtypes, reductions and worlds, how many draws, and its floor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.backends.base import Claims
from conformance.cases.tensor.dtypes import DRAWN, kind
from conformance.certificate.error import CertificateError
from conformance.runner.dialects import suites
from conformance.runner.plan import Draws, Plan

MOVES: Final = ("broadcast", "all_gather", "all_to_all", "permute", "gather", "scatter")
FOLDS: Final = ("all_reduce", "reduce", "reduce_scatter")


@dataclass(frozen=True)
class Profile:
    """A table: each operation on each dtype, folds with each reduction, each operation in each world.

    Of what it demands at least the share ``floor`` must lie within the claims; what does not is told on the front page.
    ``examples`` is the number of draws of an operation that a suite of share 1 makes. With ``deck`` the cases of the
    deck that its suites have of its operations are asked as well.
    """

    name: str
    operations: tuple[str, ...]
    folds: tuple[str, ...]
    dtypes: tuple[str, ...]
    reductions: tuple[str, ...]
    worlds: tuple[int, ...]
    suites: tuple[str, ...]
    examples: int
    floor: float
    deck: bool = True


PROFILES: Final[Mapping[str, Profile]] = {
    "core": Profile(
        name="core",
        operations=(*FOLDS, *MOVES, "barrier"),
        folds=FOLDS,
        dtypes=("float32", "float64", "int32", "int64", "bool"),
        reductions=("sum", "max", "min", "product"),
        worlds=tuple(range(1, 9)),
        suites=("collectives", "numerics", "determinism"),
        examples=150,
        floor=0.9,
    ),
    "full": Profile(
        name="full",
        operations=tuple(
            op for op in suites()["collectives"].domains if op not in ("axis_index", "axis_size", "reduce_constant")
        ),
        folds=(*FOLDS, "scan"),
        dtypes=DRAWN,
        reductions=("sum", "product", "max", "min", "and", "or", "xor"),
        worlds=tuple(range(1, 9)),
        suites=("collectives", "numerics", "determinism", "dtypes", "aliasing", "async", "liveness", "long"),
        examples=300,
        floor=0.9,
    ),
}


OF_CALLS: Final[Mapping[str, frozenset[str]]] = {
    "calls": frozenset({"illegal"}),
    "axes": frozenset({"none", "invalid"}),
    "groups": frozenset({"invalid"}),
    "meeting": frozenset({"invalid"}),
}
OF_BLOCKS: Final[Mapping[str, frozenset[str]]] = {
    "size": frozenset({"empty"}),
    "operands": frozenset({"none"}),
    **dict.fromkeys(("layout", "ranks", "ndim", "values"), frozenset()),
}
"""Features that every call, or every block, has a word of, and the words that leave no value to judge: claims of these
alone, or of no word, leave the whole operation out."""


@dataclass(frozen=True)
class Coverage:
    """Of so many ``demanded`` things the ``missing`` ones lie outside the claims."""

    demanded: int
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """Return the part that lies within."""
        return 1 - len(self.missing) / self.demanded


def profile_of(name: str) -> Profile:
    """Return a profile; raise ``CertificateError`` for a name of none."""
    if name not in PROFILES:
        raise CertificateError(f"unknown profile {name!r:.80}; known are {', '.join(PROFILES)}")
    return PROFILES[name]


def coverage(profile: Profile, claims: Claims) -> Coverage:
    """Return what of the table the claims leave out."""
    rows = list(_rows(profile))
    missing = tuple(name for name, op, words in rows if not _within(claims, op, words))
    return Coverage(len(rows), missing)


def draws(profile: Profile, claims: Claims) -> tuple[Draws, ...]:
    """Return what is drawn: by each suite for each operation of the table that is claimed, in the order of both."""
    ops = tuple(op for op in profile.operations if op in claims)
    plan = Plan(ops=ops, examples=profile.examples, suites=profile.suites)
    return tuple(plan.draws())


def _rows(profile: Profile) -> Iterator[tuple[str, str, dict[str, str]]]:
    for op in profile.operations:
        for world in profile.worlds:
            yield f"{op} on {world} ranks", op, {"world": str(world)}
        if op == "barrier":
            continue
        for dtype in profile.dtypes:
            if op not in profile.folds:
                yield f"{op} of {dtype}", op, {"dtype": dtype}
                continue
            for reduction in profile.reductions:
                words = {"dtype": dtype, "op": reduction, "reduction": f"{reduction} of {kind(dtype)}"}
                yield f"{op} {reduction} of {dtype}", op, words


def _within(claims: Claims, op: str, words: Mapping[str, str]) -> bool:
    limits: Mapping[str, Any] = claims.get(op, {})
    barren = OF_CALLS if op == "barrier" else {**OF_CALLS, **OF_BLOCKS}
    silent = any(set(limits[feature]) <= words for feature, words in barren.items() if feature in limits)
    return op in claims and not silent and all(word in limits.get(name, (word,)) for name, word in words.items())


def owed(profile: Profile, claims: Claims) -> frozenset[str]:
    """Return the operations of which a case has to be judged: those of the profile that are claimed."""
    return frozenset(profile.operations) & claims.keys()
