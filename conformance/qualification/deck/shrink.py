"""Chosen cases made smaller, each while it shows what it was chosen for and lies in all claims that it lay in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from conformance.qualification.deck.candidate import SMALLER, Candidate, keep, kept
from conformance.qualification.deck.candidates import Costs, made
from conformance.qualification.deck.demands import clauses_of, is_legal
from conformance.qualification.deck.tabled import Tabled
from conformance.runner.dialects import dialect_of, trial
from conformance.vectors.goals import Numbering
from conformance.vectors.order import Rows
from conformance.vectors.stored import written

SHORT: Final = 1_000
"""Characters of a case that is small enough."""


def smaller(
    chosen: Sequence[Candidate], folder: Path, family: str, tries: int, tell: Callable[[str], None]
) -> list[Candidate]:
    """Return the cases of a choice, each as small as the listed reductions make it within so many ``tries``.

    Each is kept on disk as it is done, so that what was cut goes on.
    """
    path = folder / f"{family}.zlib"
    known: dict[str, Candidate] = kept(path, dict[str, Candidate]) if path.exists() else {}
    table = Tabled()
    parts = [table.parts(each) for each in chosen]
    numbering = Numbering(list(table.clauses), 1 + max((w for of in parts for _, ws in of for w in ws), default=0))
    first = _first(numbering.rows(parts))
    size = len(table.clauses), len(table.words)
    costs = Costs()
    for number, each in enumerate(chosen):
        if each.name not in known:
            keeps = partial(_keeps, each, table, numbering, size, frozenset(first[number].tolist()))
            known[each.name] = _smaller(each, keeps, tries, costs)
        if number % 25 == 24 or number == len(chosen) - 1:
            keep(path, known)
            less = sum(len(known[one.name].text) for one in chosen[: number + 1])
            tell(f"{family}: {number + 1} of {len(chosen)} made smaller, {less} characters in all")
    return [known[each.name] for each in chosen]


def _keeps(
    old: Candidate,
    table: Tabled,
    numbering: Numbering,
    size: tuple[int, int],
    needed: frozenset[int],
    new: Candidate,
) -> bool:
    """Return whether a smaller case shows all goals that are needed, and every claim that has the old one has it.

    Words beyond the size of the tables are none.
    """
    same = (new.op, new.suite, is_legal(new)) == (old.op, old.suite, is_legal(old))
    if not same or not clauses_of(old) <= clauses_of(new) or not _claimed_alike(old, new):
        return False
    return needed <= set(numbering.row(_within(table.parts(new), *size)).tolist())


def _claimed_alike(old: Candidate, new: Candidate) -> bool:
    """Return whether a case has no word that claims are held against but those of the old one."""
    return new.features.keys() == old.features.keys() and all(
        set(words) <= set(old.features[op].get(name, ()))
        for op, of in new.features.items()
        for name, words in of.items()
    )


def _first(rows: Rows) -> list[np.ndarray[Any, Any]]:
    """Return for each case the goals that none before it shows."""
    shown: set[int] = set()
    found = []
    for row in rows:
        found.append(np.array([goal for goal in row.tolist() if goal not in shown], np.int32))
        shown.update(row.tolist())
    return found


def _within(
    parts: Sequence[tuple[list[int], list[int]]], clauses: int, words: int
) -> list[tuple[list[int], list[int]]]:
    """Return parts without what has no number among the goals."""
    return [
        ([clause for clause in of if clause < clauses], [word for word in several if word < words])
        for of, several in parts
    ]


def _smaller(each: Candidate, keeps: Callable[[Candidate], bool], tries: int, costs: Costs) -> Candidate:
    best, tried = each, 0
    going = True
    while going and tried < tries and len(best.text) > SHORT:
        going = False
        for case in islice(dialect_of(best.case).reductions(best.case), tries - tried):
            tried += 1
            if len(written(case)) >= len(best.text):
                continue
            one = _candidate(case, each, costs)
            if one is not None and keeps(one):
                best, going = one, True
                break
    return best


def _candidate(case: Any, of: Candidate, costs: Costs) -> Candidate | None:
    try:
        one = trial(case, of.suite)
    except ValueError:  # a reduction may be malformed
        return None
    if one is None:
        return None
    return made(one, written(case), f"{of.origin.removesuffix(SMALLER)}{SMALLER}", costs.seconds(one))
