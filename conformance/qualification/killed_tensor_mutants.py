"""Which clauses kill the mutants of graphs, sharded tensors and types, by the cases of the deck that these fail.

``python -m conformance.qualification.killed_tensor_mutants`` writes ``killed_tensor_mutants.json`` again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.qualification.asking import Control, beside, fails
from conformance.qualification.changed_references import CHANGED_REFERENCES
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.runner.worker.in_process import InProcess
from conformance.vectors.deck import deck
from conformance.vectors.power import deck_kills

FILE: Final = Path(__file__).with_suffix(".json")

ASKED: Final = 12
"""Cases that a mutant is asked about, the quickest of those that it fails."""


def listed() -> dict[str, list[str]]:
    """Return what the file has: by clauses the names of mutants that each kills."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, list[str]])


def killing() -> dict[str, list[str]]:
    """Return by clauses the names of the mutants that each kills: it is to blame for a failure on some case asked.

    What the file has stays, as far as there are such mutants: that was seen on other cases. Empty it to begin anew.
    """
    cases, dead = deck().cases, {each.name: each.kills for each in deck_kills().mutants}
    there = {each.__qualname__ for each in CHANGED_REFERENCES}
    found = {(clause, name) for clause, names in listed().items() for name in names if name in there}
    control = Control(Reference)
    for mutant in CHANGED_REFERENCES:
        failed = sorted(
            (cases[at] for at in dead.get(mutant.__qualname__, ())), key=lambda one: (one.seconds, one.name)
        )
        trials = (trial(one.case, one.suite) for one in failed[:ASKED])
        found |= {(clause, mutant.__qualname__) for clause in _blamed(mutant, trials, control)}
    return {
        clause: sorted(name for other, name in found if other == clause)
        for clause in sorted({clause for clause, _ in found}, key=_numbered)
    }


def _blamed(mutant: type[Backend], trials: Iterable[Trial | None], control: Control) -> set[str]:
    """Return the clauses to blame where a mutant fails cases."""
    worker = InProcess(BackendSpec(mutant.__qualname__, ()), backend=mutant())
    verdicts = (beside(one, worker.ask, worker.ready.terms, control)[0].verdict for one in trials if one is not None)
    return {verdict.blame.id for verdict in verdicts if verdict.blame is not None and fails(verdict)}


def _numbered(clause: str) -> tuple[str, int]:
    family, _, number = clause.partition(".C")
    return family, int(number)


if __name__ == "__main__":
    lines = (f"  {json.dumps(clause)}: {json.dumps(names)}" for clause, names in killing().items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
