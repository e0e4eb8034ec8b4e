"""The deck made to fit a specification that went on: digests anew, and cases for what no case is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.qualification.deck.candidate import FAMILIES, Candidate, all_of
from conformance.qualification.deck.candidates import Source, campaign, drawn, enumerated, made
from conformance.qualification.deck.choose import Aims
from conformance.qualification.deck.demands import Demand, cover
from conformance.qualification.deck.freeze import MOST_CASES, freeze
from conformance.qualification.deck.kills import kills
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.room import demands_of, parted, roomier
from conformance.qualification.deck.tabled import Tabled
from conformance.reference.rejection import Rejected
from conformance.runner.dialects import dialects, operations, suites, trial
from conformance.runner.dialects.schedule import ScheduleSubject
from conformance.runner.plan import Plan
from conformance.vectors.best_order import order_of
from conformance.vectors.deck import Deck, FrozenCase, read_deck
from conformance.vectors.goals import KILL, MOTIF
from conformance.vectors.meaning import meaning_digest
from conformance.vectors.order import ROUNDS, merged
from conformance.vectors.power import DeckKills, read_kills

NEW_WORDS: Final = 80
"""Cases that words alone may bring, at most: most words that a deck does not have are seldom, and not new."""

OFTEN: Final = 10
"""How many times as many draws there are of operations that a clause is missing of."""


def topup(
    folder: Path,
    into: Path,
    aims: Aims,
    mutants: Sequence[Mutant],
    seeds: Sequence[int],
    examples: int,
    jobs: int,
    tell: Callable[[str], None],
    beside: Path | None = None,
) -> None:
    """Write the deck in ``into`` once more, fit for the specification as it is now.

    Cases that mean something else get the new digest, and mutants are asked about them again; those that are none any
    more are left out. Draws of every operation, more of those that a clause is missing of, and what is enumerated, are
    the candidates for what no three cases are about. Where that makes more cases than a deck has, those are left out
    that nothing demands and that add least for anybody, old and new ones alike. What another deck lies ``beside`` has
    is there too, and mutants are asked about it.
    """
    old, old_kills = read_deck(into / "deck.jsonl.gz", anew=True), read_kills(into / "kills.json.gz")
    kept, changed = _meant_now(old.cases, tell)
    if beside is not None:
        names = {one.name for one in old.cases}
        others = [one for one in read_deck(beside / "deck.jsonl.gz", anew=True).cases if one.name not in names]
        more, _ = _meant_now(others, tell)
        kept, changed = [*kept, *more], [*changed, *more]
    missing = missing_clauses(kept)
    tell(f"{len(kept)} cases are left, {len(changed)} mean something else; clauses without {ROUNDS} cases: {missing}")
    sources = _sources(missing, seeds, examples)
    campaign(folder / "topup", sources, tell)
    fresh = all_of(folder / "topup", [each.name for each in sources], "topup")
    added = additions(kept, fresh, aims, _words(old))
    tell(f"{len(added)} cases are added")
    known = _kills_of(old_kills, {each.name for each in changed})
    asked = [*changed, *added]
    for family in FAMILIES.values():
        mine = [each for each in asked if each.family == family]
        if mine:
            found = kills(folder / "topup-kills", family, mine, tell, jobs=jobs)
            known |= {each.name: found[each.name] for each in mine}
    every = _in_order([*kept, *added], known, mutants)
    over = len(every) - MOST_CASES
    if over > 0:
        names = {one.name for one in old.cases}
        shares = Counter(each.family for each in every if each.name not in names)
        # Each family makes the room that its own new cases take.
        for family, many in parted(over, shares).items():
            every = roomier(every, family, many, aims, known, mutants)
        every = _in_order(every, known, mutants)
    how = old.made if old.made.endswith("; topped up") else f"{old.made}; topped up"
    freeze(into, how, every, asked, known, mutants, old_kills)
    left = missing_clauses(every)
    tell(f"{len(every)} cases written to {into}; clauses without {ROUNDS} cases: {left}")


def _meant_now(old: Sequence[FrozenCase], tell: Callable[[str], None]) -> tuple[list[Candidate], list[Candidate]]:
    """Return the cases of a deck as they are now, and those of them that mean something else than they did."""
    found: list[Candidate] = []
    changed: list[Candidate] = []
    for frozen in old:
        each, digest = _remade(frozen)
        if each is None:
            tell(f"{frozen.name} ({frozen.origin}) is no case any more")
            continue
        found.append(each)
        if digest != frozen.meaning or each.name != frozen.name:
            changed.append(each)
    return found, changed


def _remade(frozen: FrozenCase) -> tuple[Candidate | None, str]:
    try:
        one = trial(frozen.case, frozen.suite, None)
    except (ValueError, Rejected):
        return None, ""
    if one is None:
        return None, ""
    digest = meaning_digest(one.subject.graph if isinstance(one.subject, ScheduleSubject) else one.subject)
    return made(one, bytes(frozen.text), frozen.origin, frozen.seconds), digest


def missing_clauses(cases: Sequence[Candidate]) -> list[str]:
    """Return the clauses that a run expects, and fewer than three cases are about."""
    expected = Plan(ops=tuple(operations()), examples=1, suites=tuple(suites())).clauses()
    spoke = [clause for each in cases for clause in {c for clauses, _ in each.parts for c in clauses}]
    counts = dict.fromkeys(expected, 0)
    for clause in spoke:
        counts[clause] = counts.get(clause, 0) + 1
    return sorted(clause for clause in expected if counts[clause] < ROUNDS)


def _sources(missing: Sequence[str], seeds: Sequence[int], examples: int) -> list[Source]:
    """Return draws of everything, more draws of operations with a clause that is missing, and what is enumerated."""
    families = tuple(FAMILIES.values())
    found = drawn(seeds, examples, families)
    lacking = {
        (dialect.name, op)
        for dialect in dialects().values()
        for op in dialect.ops
        if not dialect.expected([op], tuple(dialect.suites)).isdisjoint(missing)
    }
    shared = [clause for clause in missing if clause.startswith(("collective.", "reduction.", "pairs."))]
    ops = {op for _, op in lacking} | ({"all_reduce", "all_gather", "permute"} if shared else set())
    if ops:
        found += [each for each in drawn(seeds, examples * OFTEN, families) if each.op in ops]
    found += [each for each in enumerated(families) if not each.small or each.op in ops]
    return list({each.name: each for each in found}.values())


def additions(
    kept: Sequence[Candidate], fresh: Sequence[Candidate], aims: Aims, words: Collection[str]
) -> list[Candidate]:
    """Return the new cases that a deck needs: what is demanded and it lacks, and what has words that it never had."""
    names = {each.name for each in kept}
    pool = [*kept, *(each for each in fresh if each.name not in names)]
    having = set(range(len(kept)))
    lacks = []
    for each in demands_of(pool, aims):
        there = sum(at in having for at in each.cases)
        if there < each.count:
            lacks.append(Demand(each.why, tuple(at for at in each.cases if at not in having), each.count - there))
    found = cover(lacks, pool)
    chosen = {*found}
    by_word: dict[str, list[int]] = {}
    for at, one in enumerate(pool):
        if at not in having:
            for word in {word for _, several in one.parts for word in several} - set(words):
                by_word.setdefault(word, []).append(at)
    open_words = [
        Demand(f"case with {word}", tuple(of), 1) for word, of in sorted(by_word.items()) if chosen.isdisjoint(of)
    ]
    found += cover(open_words, pool)[:NEW_WORDS]
    return [pool[at] for at in dict.fromkeys(found)]


def _words(old: Deck) -> frozenset[str]:
    """Return the words that the cases of a deck have."""
    places = {n for n, name in enumerate(old.tables.clauses) if name.startswith((KILL, MOTIF))}
    shown = {
        number
        for one in old.cases
        for clauses, words in one.parts
        if not places.issuperset(clauses)
        for number in words
    }
    return frozenset(old.tables.words[number] for number in shown)


def _kills_of(old: DeckKills, but: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the kills that are known, by the names of cases, but for those of some."""
    found: dict[str, list[str]] = {name: [] for name in old.cases}
    for each in old.mutants:
        for number in each.kills:
            found[old.cases[number]].append(each.name)
    return {name: tuple(of) for name, of in found.items() if name not in but}


def _in_order(
    cases: Sequence[Candidate], known: Mapping[str, Sequence[str]], mutants: Sequence[Mutant]
) -> list[Candidate]:
    """Return the cases in the best order where everything is claimed."""
    goals = {mutant.name for mutant in mutants if mutant.half != "unseen"}
    table = Tabled()
    orders = []
    for family in FAMILIES.values():
        mine = [at for at, each in enumerate(cases) if each.family == family]
        parts = [
            table.parts(cases[at], [name for name in known.get(cases[at].name, ()) if name in goals]) for at in mine
        ]
        order = order_of(parts, [cases[at].seconds for at in mine], list(table.clauses), family)
        orders.append([mine[at] for at in order])
    return [cases[at] for at in merged([each for each in orders if each])]
