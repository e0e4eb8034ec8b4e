"""The deck and its kills as they ship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from conformance.qualification.deck.candidate import CampaignError, Candidate
from conformance.qualification.deck.candidates import made
from conformance.qualification.deck.incidence import Facts, incidence
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.tabled import Tabled
from conformance.runner.dialects import trial
from conformance.runner.dialects.schedule import ScheduleSubject
from conformance.vectors.deck import FrozenCase, Tables, read_deck, write_deck
from conformance.vectors.meaning import meaning_digest
from conformance.vectors.power import DeckKills, write_kills

MOST_CASES: Final = 2_000
"""Cases of a deck, at most."""


def freeze(
    folder: Path,
    how: str,
    chosen: Sequence[Candidate],
    campaign: Sequence[Candidate],
    kills: Mapping[str, Sequence[str]],
    mutants: Sequence[Mutant],
    old: DeckKills | None = None,
) -> None:
    """Write the deck and its kills, with what an ``old`` campaign showed.

    Raise ``CampaignError`` where it has more cases than a deck has.
    """
    if len(chosen) > MOST_CASES:
        raise CampaignError(f"{len(chosen)} cases were chosen; a deck has {MOST_CASES} at most")
    goals = {mutant.name for mutant in mutants if mutant.half != "unseen"}
    cases, tables = numbered(chosen, {name: [kill for kill in of if kill in goals] for name, of in kills.items()})
    # Both or none: a deck with the kills of another one says nothing of what a run sees.
    with TemporaryDirectory(dir=folder) as aside:
        deck, dead = Path(aside) / "deck.jsonl.gz", Path(aside) / "kills.json.gz"
        write_deck(deck, how, tables, cases)
        write_kills(dead, incidence(read_deck(deck).digest, chosen, campaign, kills, mutants, old))
        deck.replace(folder / deck.name)
        dead.replace(folder / dead.name)


def numbered(chosen: Sequence[Candidate], goals: Mapping[str, Sequence[str]]) -> tuple[list[FrozenCase], Tables]:
    """Return cases as they ship, each with what it means and shows now, and the tables that they are numbered by.

    ``goals`` has by the names of cases the mutants that they are there for. Raise ``CampaignError`` for what is no case
    any more.
    """
    table, facts, cases = Tabled(), Facts(), []
    for old in chosen:
        one = trial(old.case, old.suite, old.name)
        if one is None:
            raise CampaignError(f"{old.name} ({old.origin}) is no case any more: make the campaign again")
        each = made(one, old.text, old.origin, old.seconds)
        cases.append(
            FrozenCase(
                name=each.name,
                form=each.form,
                family=each.family,
                suite=each.suite,
                op=each.op,
                origin=each.origin,
                seconds=round(each.seconds, 4),
                meaning=meaning_digest(one.subject.graph if isinstance(one.subject, ScheduleSubject) else one.subject),
                facts=facts.of(each),
                parts=table.parts(each, goals.get(each.name, ())),
                text=msgspec.Raw(each.text),
            )
        )
    return cases, Tables(clauses=list(table.clauses), words=list(table.words), facts=list(facts.known))
