"""Folds over devices of tensors past the size at which frameworks fold by a ring instead of by copies of all."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.elementwise import Fold
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split, even_cuts
from conformance.reference.sharded.all_reduce import THRESHOLD
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import neighbour
from conformance.specs.graphs.domain.unfinished_case import Asked, Words
from conformance.specs.sharded.domain.patterns.listing import Sharded, counted
from conformance.specs.sharded.domain.placements import NAMES, devices
from conformance.specs.sharded.domain.programs import Program, known

TURNS: Final = (0, 4)
"""The draws that are past it: two of a run, since one of them takes as long as thirty others."""

PERIOD: Final = 7
"""Elements of a row that are stored; it has them again and again, so that a case is small."""

TIMES: Final = (THRESHOLD // PERIOD + 2, THRESHOLD // PERIOD + 5)
"""How often. Chunks of a ring are of one element then, or of 32, and some devices have more of them than others."""

STRETCHES: Final = 21
"""Stretches of the result of which the sums are asked for; it divides the elements."""


def past(draw: Draw, turn: int) -> ShardedCase:
    """Draw a fold of rows that devices have one each, and ask for sums of stretches of the result."""
    count = draw(choices.sampled_from([4, 3, 5]))
    mesh = (Axis(name=NAMES[0], size=count),)
    words = Words(dtypes=(), alu=(), folds=(), steps=(), regime="small", plain=True)
    program = Program(Asked(draw, words), mesh, draw(devices(count)), plain=True, even=True)
    whole = draw(choices.sampled_from(["int64", "int32"]))
    e = Sharded(program, whole, "float32", placed="even", several=False)
    times = TIMES[turn // TURNS[-1] % len(TIMES)]
    extent = times * PERIOD
    rows = Placement(splits=(Split(axis=0, along=(mesh[0].name,), cuts=even_cuts(count, count)),))
    held = e.held(counted((count, 1, PERIOD), whole), whole, rows)
    long = e.moved("reshape", (count, extent), e.moved("expand", (count, times, PERIOD), held))
    fold: Fold = draw(choices.sampled_from(["add", "max"]))
    made = e.fold(fold, long, 0)
    stretches = e.moved("reshape", (STRETCHES, extent // STRETCHES), made)
    program.asked.wanted.append(e.fold("add", stretches, 1).id)
    program.asked.close(())
    return known(program)


def past_case(draw: Draw) -> ShardedCase | None:
    """Return the case of a draw that is past the size, or ``None`` for any other draw."""
    turn = neighbour(draw)
    return past(draw, turn) if turn in TURNS else None
