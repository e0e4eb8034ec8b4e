"""What became of automatic mutants, each and in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from conformance.qualification.auto.corpus import EVERY_FAMILY, FAMILIES, AutoMutant, FamilyName
from conformance.qualification.auto.running.differences import Kill, Seen

Fate = Literal["killed", "survived", "not_reached", "equivalent", "void"]
FATES: Final[tuple[Fate, ...]] = ("killed", "survived", "not_reached", "equivalent", "void")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one mutant: its ``fate`` after ``cases`` cases, of the ``reach`` cases that come to it.

    ``reason`` says why it is no hole, or what it was that there was no time for. ``rescheduled`` says that all values
    are those of the unchanged code, and that schedules differ and break no clause.
    """

    name: str
    family: FamilyName
    fate: Fate
    half: Literal["seen", "unseen"]
    cases: int
    reach: int = 0
    kills: tuple[Kill, ...] = ()
    reason: str = ""
    diff: str = ""
    rescheduled: bool = False


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many mutants there were, and how many had which fate.

    ``killed_share`` is of those that are neither equivalent nor void. ``rescheduled`` are those of the equivalent ones
    that make other schedules than the unchanged code, which break no clause.
    """

    mutants: int
    killed: int
    survived: int
    not_reached: int
    equivalent: int
    void: int
    rescheduled: int
    killed_share: float


class Survivor(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant of the half that is looked at which no case killed, or that no case reached."""

    name: str
    family: FamilyName
    fate: Fate
    cases: int
    diff: str
    reason: str = ""


class Auto(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the automatic mutants, in all, by family, and by half.

    ``survivors``, ``holes`` (not reached), ``voids`` and ``equivalents`` name those of the seen half. ``controls`` say
    of each family whether the unchanged code passes; where it does not, the family is void as a whole.
    """

    mutants: int
    equivalent: int
    void: int
    killed: int
    not_reached: int
    survived: int
    seed: int
    examples: int
    families: dict[str, Counts]
    seen: Counts
    unseen: Counts
    controls: dict[str, str]
    survivors: tuple[Survivor, ...]
    holes: tuple[Survivor, ...]
    voids: tuple[Survivor, ...]
    equivalents: tuple[Survivor, ...]


def row_of(
    mutant: AutoMutant,
    fate: Fate,
    seen: Seen | None = None,
    *,
    reach: int = 0,
    reason: str = "",
    rescheduled: bool = False,
) -> Row:
    """Return the row of a mutant; the change is told of those of the seen half that did not die."""
    return Row(
        name=mutant.name,
        family=mutant.family,
        fate=fate,
        half="seen" if mutant.seen else "unseen",
        cases=seen.cases if seen else 0,
        reach=reach,
        kills=seen.kills if seen else (),
        reason=reason,
        diff=mutant.diff if mutant.seen and fate != "killed" else "",
        rescheduled=rescheduled,
    )


def summed(rows: Sequence[Row], seed: int, examples: int, controls: Mapping[str, str]) -> Auto:
    """Return what rows come to; those of a family whose control fails are void."""
    rows = [_held(row, controls.get(row.family, "passed")) for row in rows]
    whole = _counts(rows)

    def named(fate: Fate) -> tuple[Survivor, ...]:
        return tuple(
            Survivor(name=row.name, family=row.family, fate=fate, cases=row.cases, diff=row.diff, reason=row.reason)
            for row in rows
            if row.fate == fate and row.half == "seen"
        )

    return Auto(
        mutants=whole.mutants,
        equivalent=whole.equivalent,
        void=whole.void,
        killed=whole.killed,
        not_reached=whole.not_reached,
        survived=whole.survived,
        seed=seed,
        examples=examples,
        families={
            name: _counts([row for row in rows if row.family == name])
            for name in EVERY_FAMILY
            if name in FAMILIES or name in controls
        },
        seen=_counts([row for row in rows if row.half == "seen"]),
        unseen=_counts([row for row in rows if row.half == "unseen"]),
        controls=dict(controls),
        survivors=named("survived"),
        holes=named("not_reached"),
        voids=named("void"),
        equivalents=named("equivalent"),
    )


def _held(row: Row, control: str) -> Row:
    if control == "passed" or row.fate == "void":
        return row
    reason = f"the unchanged code breaks {control}"
    return msgspec.structs.replace(row, fate="void", kills=(), reason=reason, rescheduled=False)


def _counts(rows: Sequence[Row]) -> Counts:
    found = Counter(row.fate for row in rows)
    judgeable = len(rows) - found["equivalent"] - found["void"]
    share = found["killed"] / judgeable if judgeable else 1.0
    rescheduled = sum(row.rescheduled for row in rows)
    fates = {fate: found[fate] for fate in FATES}
    return Counts(mutants=len(rows), killed_share=round(share, 4), rescheduled=rescheduled, **fates)
