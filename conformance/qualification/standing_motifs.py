"""Whether each motif still stands for a bug: its mutant is there, and dies of the first draws of the motif."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.generate.graphs.motifs import MOTIFS, Motif
from conformance.judging.graphs.subject import graph_meaning
from conformance.qualification.graph_mutants import MUTANTS, tried
from conformance.runner.draws import numbered

DRAWS: Final = 6
"""Draws of a motif that are tried: each kills with the first or the second."""


def fallen_motifs(motifs: Sequence[Motif] = MOTIFS, seed: int = 1) -> tuple[str, ...]:
    """Return a sentence for each motif that stands for no mutant, or for one that it does not kill."""
    found = []
    for each in motifs:
        if each.mutant not in MUTANTS:
            found.append(f"the motif {each.name!r} stands for {each.mutant}, which is no mutant of graphs: drop it")
            continue
        subjects = (graph_meaning(numbered(each.cases, seed, number)[0]) for number in range(DRAWS))
        if not any(tried(MUTANTS[each.mutant], subject).outcome == "failed" for subject in subjects):
            found.append(f"the motif {each.name!r} no longer kills {each.mutant} in {DRAWS} draws: its bug is gone")
    return tuple(found)
