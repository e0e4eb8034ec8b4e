"""``qualify --auto``: mutants that nobody wrote, run on what the default profile draws, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import msgspec

from conformance.backends.base import Backend
from conformance.qualification.auto.changes import Change
from conformance.qualification.auto.corpus import FAMILIES, MOST, AutoMutant, FamilyName, corpus
from conformance.qualification.auto.families import ENGINE, REFERENCE
from conformance.qualification.auto.faulty import Fault, Faulty
from conformance.qualification.auto.ground import Ground, ground, questions, words_of
from conformance.qualification.auto.judged import Kill, Seen, Work, judged
from conformance.qualification.auto.pool import At, Ended, in_children
from conformance.qualification.auto.reach import numbers, reached
from conformance.qualification.auto.read import read_reasons
from conformance.qualification.auto.shadow import changed_backend
from conformance.qualification.auto.small import small_cases
from conformance.qualification.drawn import Drawn, drawn_cases
from conformance.qualification.mutant_module import MutantError
from conformance.specs import OPS, SUITES

Fate = Literal["killed", "survived", "not_reached", "equivalent", "void"]
FATES: Final[tuple[Fate, ...]] = ("killed", "survived", "not_reached", "equivalent", "void")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one mutant: its ``fate``, after ``cases`` cases, with the kills, and why it is no hole."""

    name: str
    family: FamilyName
    fate: Fate
    half: Literal["seen", "unseen"]
    cases: int
    kills: tuple[Kill, ...] = ()
    reason: str = ""
    diff: str = ""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many mutants there were, and how many had which fate.

    ``killed_share`` is of those that are neither equivalent nor void.
    """

    mutants: int
    killed: int
    survived: int
    not_reached: int
    equivalent: int
    void: int
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


@dataclass(frozen=True)
class Profile:
    """What is drawn: the seed, the examples of each operation, suites and operations."""

    seed: int
    examples: int
    suites: tuple[str, ...] = tuple(SUITES)
    ops: tuple[str, ...] = tuple(OPS)

    @property
    def name(self) -> str:
        """Return what tells the cases apart from others on disk."""
        whole = self.suites == tuple(SUITES) and self.ops == tuple(OPS)
        return f"{self.seed}-{self.examples}" + ("" if whole else f"-{'.'.join(self.suites)}-{'.'.join(self.ops)}")


def qualify_auto(
    count: int,
    profile: Profile,
    *,
    families: Sequence[FamilyName] = FAMILIES,
    whole: bool = False,
    equivalence: bool = True,
    watch: Callable[[Row], None] = lambda row: None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Auto, tuple[Row, ...]]:
    """Run ``count`` mutants of a profile's seed on its cases, and return what became of them, each and in all.

    With ``whole`` every kill is found, one for each suite and operation; without ``equivalence`` survivors are not run
    on the small cases. Raise ``MutantError`` for a number of mutants
    that cannot be, and where unchanged code does not get through its cases.
    """
    if not 1 <= count <= MOST:
        raise MutantError(f"--auto {count}: there are 1 to {MOST} automatic mutants of one seed")
    mutants = [mutant for mutant in corpus(count, profile.seed) if mutant.family in families]
    tell("drawing")
    drawn = drawn_cases(profile.seed, profile.examples, profile.suites, profile.ops)
    rows: list[Row] = []
    controls: dict[str, str] = {}
    for family in families:
        mine = [mutant for mutant in mutants if mutant.family == family]
        if not mine:
            continue
        tell(f"{family}: the unchanged code")
        base = _ground(family, drawn, profile)
        controls[family] = base.right.failed or "passed"
        if base.right.failed:
            rows += [_row(m, "void", reason=f"the unchanged code breaks {base.right.failed}") for m in mine]
            continue
        for row in _family(mine, base, profile, whole=whole, equivalence=equivalence):
            rows.append(row)
            watch(row)
    return _summed(rows, profile, controls), tuple(rows)


def _ground(family: FamilyName, drawn: tuple[Drawn, ...], profile: Profile) -> Ground:
    if family != "engine":
        return ground(REFERENCE, drawn, profile.name, trace=family == "reference")
    asked = questions(profile.seed, profile.examples) if profile.ops == tuple(OPS) else ()
    known = ground(REFERENCE, drawn, profile.name, trace=False).right.answers
    return ground(ENGINE, (*drawn, *asked), profile.name, known=known)


def _family(
    mutants: Sequence[AutoMutant], base: Ground, profile: Profile, *, whole: bool, equivalence: bool
) -> Iterator[Row]:
    """Yield a row for each mutant of one family; survivors are run on the small cases too."""
    works: dict[str, Work] = {}
    words = words_of(base.drawn, profile.name) if mutants[0].family == "conditional" else []
    for mutant in mutants:
        if mutant.void is not None:
            yield _row(mutant, "void", reason=mutant.void)
            continue
        cases = _cases_of(mutant, base, words)
        if not cases:
            yield _row(mutant, "not_reached")
            continue
        works[mutant.digest] = Work(partial(_made, mutant, base), cases)
    left = [mutant for mutant in mutants if mutant.digest in works]
    memory = None if base.family is ENGINE else _MEMORY

    def run(mutant: AutoMutant, at: At) -> Seen:
        right = base.right
        return judged(works[mutant.digest], base.drawn, right.answers, at, whole=whole)

    alive: list[tuple[AutoMutant, Seen]] = []
    for mutant, made in in_children(left, run, memory=memory, cpu=base.family.cpu):
        seen = _ended(made, base) if isinstance(made, Ended) else made
        if seen.kills:
            yield _row(mutant, "killed", seen)
        elif isinstance(mutant.made, Fault) and not seen.applied:
            yield _row(mutant, "not_reached", seen)
        else:
            alive.append((mutant, seen))
    if equivalence:
        yield from _told_equivalent(alive, base)
    else:
        yield from (_row(mutant, "survived", seen) for mutant, seen in alive)


_MEMORY: Final = 6 << 30

THIN: Final = 8
"""Of so many small cases a survivor of the engine is given one: it takes some 3 ms a case, the reference 0.3."""


def _told_equivalent(alive: Sequence[tuple[AutoMutant, Seen]], base: Ground) -> Iterator[Row]:
    """Yield the rows of what survived: as equivalent where no small case tells it from the unchanged code.

    A survivor of the engine that was read, and of which a reason is kept, is equivalent too.
    """
    if not alive:
        return
    reasons = read_reasons()
    known = {mutant.digest: seen for mutant, seen in alive}
    every = small_cases(drawn_cases(0, 100, tuple(SUITES), tuple(OPS)))
    small = ground(base.family, every[::THIN] if base.family is ENGINE else every, "small", control=False)

    def run(mutant: AutoMutant, at: At) -> Seen:
        cases = _small_cases_of(mutant, small)
        made = mutant.made
        if isinstance(made, Fault):
            mutant = AutoMutant(mutant.family, Fault(made.effect, frozenset(), made.rank, made.element))
        return judged(Work(partial(_made, mutant, base), cases), small.drawn, small.right.answers, at, whole=False)

    memory = None if base.family is ENGINE else _MEMORY
    for mutant, found in in_children([mutant for mutant, _ in alive], run, memory=memory, cpu=base.family.cpu):
        seen = known[mutant.digest]
        reason = reasons.get(mutant.digest, "")
        if isinstance(found, Seen) and found.cases and not found.differs and not seen.differs:
            yield _row(mutant, "equivalent", seen, reason=f"as the unchanged code on {found.cases} small cases")
        elif reason and mutant.family == "engine":
            yield _row(mutant, "equivalent", seen, reason=reason)
        else:
            yield _row(mutant, "survived", seen)


def _cases_of(mutant: AutoMutant, base: Ground, words: Sequence[Sequence[frozenset[str]]]) -> list[int]:
    made = mutant.made
    if isinstance(made, Change):
        return list(numbers(reached(made, base.lines, len(base.drawn))))
    return [number for number, each in enumerate(words) if any(made.met(one) for one in each)]


def _small_cases_of(mutant: AutoMutant, small: Ground) -> list[int]:
    if isinstance(mutant.made, Change):
        return list(numbers(reached(mutant.made, small.lines, len(small.drawn))))
    return list(range(len(small.drawn)))


def _made(mutant: AutoMutant, base: Ground) -> Backend:
    if isinstance(mutant.made, Fault):
        return Faulty(mutant.made)
    return changed_backend(base.family, mutant.made)()


def _ended(ended: Ended, base: Ground) -> Seen:
    """Return a process that ended, or hung, as a kill by the case it was in, or by the first where it did not start."""
    each = base.drawn[max(ended.at, 0)]
    suite, op = (each.suite, each.op) if ended.at >= 0 else ("", "")
    return Seen((Kill(suite, op, each.index if ended.at >= 0 else 0, ended.how, "must"),), max(ended.at, 0) + 1, True)


def _row(mutant: AutoMutant, fate: Fate, seen: Seen | None = None, *, reason: str = "") -> Row:
    named = mutant.seen and fate != "killed"
    return Row(
        name=f"{mutant.family}-{mutant.digest}",
        family=mutant.family,
        fate=fate,
        half="seen" if mutant.seen else "unseen",
        cases=seen.cases if seen else 0,
        kills=seen.kills if seen else (),
        reason=reason,
        diff=mutant.diff if named else "",
    )


def _counts(rows: Sequence[Row]) -> Counts:
    found = Counter(row.fate for row in rows)
    judgeable = len(rows) - found["equivalent"] - found["void"]
    share = found["killed"] / judgeable if judgeable else 1.0
    return Counts(mutants=len(rows), killed_share=round(share, 4), **{fate: found[fate] for fate in FATES})


def _summed(rows: Sequence[Row], profile: Profile, controls: dict[str, str]) -> Auto:
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
        seed=profile.seed,
        examples=profile.examples,
        families={name: _counts([row for row in rows if row.family == name]) for name in FAMILIES},
        seen=_counts([row for row in rows if row.half == "seen"]),
        unseen=_counts([row for row in rows if row.half == "unseen"]),
        controls=controls,
        survivors=named("survived"),
        holes=named("not_reached"),
        voids=named("void"),
        equivalents=named("equivalent"),
    )
