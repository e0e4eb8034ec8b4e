"""Chosen cases made smaller, each while it shows the goals that it was chosen for (cause reduction)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from conformance.qualification.deck.candidate import Candidate, keep, kept
from conformance.qualification.deck.candidates import Costs, made
from conformance.qualification.deck.choose import Tabled
from conformance.runner.dialects import dialect_of, trial
from conformance.vectors.goals import Numbering
from conformance.vectors.order import Rows
from conformance.vectors.stored import written

TRIED: Final = 60
"""Smaller cases that are tried for one, at most: most of those that keep its goals come early."""


def smaller(chosen: Sequence[Candidate], folder: Path, family: str, tell: Callable[[str], None]) -> list[Candidate]:
    """Return the cases of a choice, each as small as the listed reductions make it within ``TRIED`` tries.

    Each is kept on disk as it is done, so that what was cut goes on.
    """
    path = folder / f"{family}.zlib"
    known: dict[str, Candidate] = kept(path, dict[str, Candidate]) if path.exists() else {}
    table = Tabled()
    parts = [table.parts(each) for each in chosen]
    numbering = Numbering(list(table.clauses), 1 + max((w for of in parts for _, ws in of for w in ws), default=0))
    first = _first(numbering.rows(parts))
    clauses, words = len(table.clauses), len(table.words)
    costs = Costs()
    for number, each in enumerate(chosen):
        if each.name in known:
            continue
        shows = partial(_shows, table, numbering, (clauses, words), frozenset(first[number].tolist()))
        known[each.name] = _smaller(each, shows, costs) if len(first[number]) else each
        if number % 25 == 24 or number == len(chosen) - 1:
            keep(path, known)
            less = sum(len(one.text) for one in known.values())
            tell(f"{family}: {number + 1} of {len(chosen)} made smaller, {less} characters in all")
    return [known[each.name] for each in chosen]


def _shows(table: Tabled, numbering: Numbering, size: tuple[int, int], needed: frozenset[int], one: Candidate) -> bool:
    """Return whether a case shows all goals that are needed; words beyond the size of the tables are none."""
    return needed <= set(numbering.row(_within(table.parts(one), *size)).tolist())


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


def _smaller(each: Candidate, shows: Callable[[Candidate], bool], costs: Costs) -> Candidate:
    best, tried = each, 0
    going = True
    while going and tried < TRIED:
        going = False
        for case in islice(dialect_of(best.case).reductions(best.case), TRIED - tried):
            tried += 1
            one = _candidate(case, each, costs)
            if one is not None and len(one.text) < len(best.text) and shows(one):
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
    return made(
        one,
        written(case),
        of.origin if of.origin.endswith(", made smaller") else f"{of.origin}, made smaller",
        costs.seconds(one),
    )
