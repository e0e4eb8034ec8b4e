"""The best order of cases for what they show: each next one adds most a second to what those before have shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

OVERHEAD: Final = 0.05
"""Seconds that any case takes of a run beside its own, to be sent, waited for, compiled and recorded. Of eight random
halves of the mutants of graphs 50 cases kill 82 % with 0.02 and 85 % with 0.05, of sharding 100 cases 98 and 99 %; with
0.004 the first 50 of 900 cases of collectives killed 56 % of mutants, with 0.02 68 %."""

ROUNDS: Final = 3
"""How often each goal is to be shown before it is worth nothing."""

LATER: Final = 0.35
"""What showing a goal once more is worth, of what it was worth before."""

FEWER: Final = {"collectives": 0.3}
"""The power of the number of goals of a case that its worth is divided by, of families whose cases do: where less
happens, more of it is seen. Graphs have several small expressions in a case, none of which hides another."""

NOTHING: Final = 1e-9
"""What sums of worths come to by rounding alone."""

Rows = Sequence[NDArray[np.int32]]
"""For each case the numbers of the goals that it shows, each once."""


class Goals:
    """How much is left to show of each goal, and what each case adds."""

    def __init__(
        self,
        rows: Rows,
        seconds: Sequence[float],
        weights: NDArray[np.float64],
        fewer: float = 0.0,
        *,
        rounds: NDArray[np.int16] | None = None,
        later: float = LATER,
    ) -> None:
        """Have nothing shown; ``weights`` are what the goals are worth, and ``fewer`` is the power of ``FEWER``.

        Each is to be shown ``ROUNDS`` times, or as often as ``rounds`` says, once more for ``later`` of what it was
        worth before.
        """
        self._rows, self._later = rows, later
        self._worth = weights.astype(np.float64, copy=True)
        self._left = np.full(len(weights), ROUNDS, np.int16) if rounds is None else rounds.copy()
        sizes = np.array([max(1, len(row)) for row in rows], np.float64)
        self.cost = (np.asarray(seconds, np.float64) + OVERHEAD) * sizes**fewer
        self.gain = np.array([self._worth[row].sum() for row in rows])
        flat = np.concatenate(list(rows)) if len(rows) else np.empty(0, np.int32)
        owner = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
        by_goal = np.argsort(flat, kind="stable")
        self._cases = owner[by_goal]
        self._ends = np.searchsorted(flat[by_goal], np.arange(len(weights) + 1))

    def show(self, case: int) -> None:
        """Count a case as asked: what it shows is worth less from here on."""
        row = self._rows[case]
        row = row[self._left[row] > 0]
        if not len(row):
            return
        self._left[row] -= 1
        before = self._worth[row]
        after = np.where(self._left[row] > 0, before * self._later, 0.0)
        self._worth[row] = after
        # What each goal lost, every case that has it loses.
        counts = self._ends[row + 1] - self._ends[row]
        starts = np.repeat(self._ends[row] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        cases = self._cases[starts + np.arange(counts.sum())]
        self.gain -= np.bincount(cases, np.repeat(before - after, counts), minlength=len(self.gain))

    @property
    def left(self) -> bool:
        """Return whether anything is left to be shown."""
        return bool((self._left > 0).any())

    def worth(self, row: NDArray[np.int32]) -> float:
        """Return what a case that shows these goals would add."""
        return float(self._worth[row].sum())


def ordered(
    rows: Rows,
    seconds: Sequence[float],
    weights: NDArray[np.float64],
    fewer: float = 0.0,
    most: int | None = None,
    begun: int = 0,
) -> list[int]:
    """Return the numbers of cases in the order in which each adds most for what it costs, at most so many.

    The first ``begun`` cases were asked before, and are left out.
    """
    goals = Goals(rows, seconds, weights, fewer)
    asked = np.zeros(len(rows), bool)
    for number in range(begun):
        asked[number] = True
        goals.show(number)
    if begun == len(rows):
        return []
    found: list[int] = []
    for _ in range(len(rows) if most is None else min(most, len(rows))):
        rate = goals.gain / goals.cost
        rate[asked] = -1.0
        best = int(rate.argmax())
        if asked[best] or goals.gain[best] <= NOTHING:  # all that is left shows nothing more
            rest = [number for number in range(len(rows)) if not asked[number]]
            found += rest[: (len(rows) if most is None else most) - len(found)]
            break
        asked[best] = True
        found.append(best)
        goals.show(best)
    return found


def merged(families: Sequence[Sequence[int]]) -> list[int]:
    """Return the cases of all families in one order, of which every beginning has the same share of each family.

    What cases of one family show is not to be weighed against what those of another do.
    """
    placed = [
        ((place + 0.5) / len(cases), number, case)
        for number, cases in enumerate(families)
        for place, case in enumerate(cases)
    ]
    return [case for _, _, case in sorted(placed)]
