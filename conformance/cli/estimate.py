"""How long a run of a backend takes on this machine, and what it will see, before anything is asked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.backends.base import Claims
from conformance.runner.plan import PROFILES
from conformance.vectors.best_order import within
from conformance.vectors.deck import deck
from conformance.vectors.power import power

FILE: Final = Path(__file__).with_name("paces.json")
"""What was measured, on which machine."""

ADDITIONS: Final = 1_000_000
"""Additions of the loop that tells how fast a machine is; a tenth of a second at most."""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that a backend took to start, and for a case of the deck within its claims, judged."""

    start: float
    case: float


class Paces(msgspec.Struct, frozen=True, kw_only=True):
    """Paces of ``backends`` on a machine on which 10^7 additions took so many seconds (``loop``)."""

    measured: str
    loop: float
    backends: dict[str, Pace]


@cache
def paces() -> Paces:
    """Return what was measured."""
    return msgspec.json.decode(FILE.read_bytes(), type=Paces)


@cache
def loop() -> float:
    """Return the seconds that 10^7 additions take here."""
    began, total = time.perf_counter(), 0
    for number in range(ADDITIONS):
        total += number
    return (time.perf_counter() - began) * 1e7 / ADDITIONS


def estimate(name: str, claims: Claims) -> dict[str, Any]:
    """Return the cases of the deck within claims, what they kill, and the seconds of a deck and of a default run.

    There are no seconds for a backend that nobody measured.
    """
    cases = [deck().cases[number] for number in within(deck(), claims)]
    sees = power(claims, {one.name for one in cases})
    found: dict[str, Any] = {
        "cases": len(cases),
        "mutants": sees.within.mutants,
        "kills": sees.within.seen,
        "unseen": sees.unseen.share,
    }
    pace = paces().backends.get(name)
    if pace is not None:
        seconds = (pace.start + pace.case * len(cases)) * loop() / paces().loop
        found["seconds"] = {
            "deck": round(seconds, 1),
            "default": round(max(seconds, PROFILES["default"].seconds or 0), 1),
        }
    return found


def told(name: str, found: Mapping[str, Any]) -> str:
    """Return an estimate as a line for people."""
    if not found["mutants"]:
        return f"  run      {name}: {found['cases']} cases of the deck lie within its claims, and no mutant"
    sees = f"sees {found['kills'] / found['mutants']:.0%} of {found['mutants']} mutants within its claims"
    many = f"{found['cases']} cases of the deck"
    if "seconds" not in found:
        return f"  run      {name}: {many}, how long they take was not measured; {sees}"
    deck_, whole = (length(found["seconds"][word]) for word in ("deck", "default"))
    return f"  run      {name}: {many} in {deck_}, a default run in {whole} where nothing fails; {sees}"


def length(seconds: float) -> str:
    """Return so many seconds in words."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
