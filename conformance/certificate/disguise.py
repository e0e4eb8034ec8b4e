"""A case asked a second time in another guise: axes renamed and permuted, ranks relabelled by that, values exchanged.

Whoever knows a case by its looks does not know it so. Its meaning is asked of the reference anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import numpy as np

from conformance.backends.base import Claims
from conformance.cases.case import Case, Fault, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial

_LETTERS = "abcdefghjkmnpqrstuvwxyz"


def disguised(one: Trial, seed: int, claims: Claims) -> Trial | None:
    """Return a case in another guise; ``None`` where it has none that is as legal and as claimed as it is."""
    for made in other_guises(one.case, one.name, seed):
        found = _meaning(made, one)
        if found is not None and found.facts.legal == one.facts.legal and found.outside(claims) is None:
            return found
    return None


def other_guises(case: Any, name: str, seed: int) -> Iterator[Case]:
    """Yield the case with a name in other guises, the one that is to be taken first where it is right.

    First values are exchanged as well. Where what it means depends on them, as that of offsets does, they stay.
    """
    if isinstance(case, Case):
        random = Random(f"{seed}, {name}")  # noqa: S311 - it must be the same for the same seed
        relabelled = _relabelled(case, random)
        yield _exchanged(relabelled, random)
        yield relabelled


def _meaning(case: Case, one: Trial) -> Trial | None:
    try:
        return trial(case, one.suite)
    except ValueError:
        return None


def _relabelled(case: Case, random: Random) -> Case:
    program = case.program
    order = list(range(len(program.mesh)))
    random.shuffle(order)
    names = random.sample(_LETTERS, len(order)) if len(order) <= len(_LETTERS) else [a.name for a in program.mesh]
    renamed = {axis.name: name for axis, name in zip(program.mesh, names, strict=True)}
    sizes = [axis.size for axis in program.mesh]
    ranks = np.arange(program.world).reshape(sizes).transpose(order).reshape(-1).tolist()
    now = {old: new for new, old in enumerate(ranks)}
    mesh = tuple(Axis(names[at], sizes[at]) for at in order)
    steps = tuple(_step(step, renamed, now) for step in program.steps)
    inputs = {
        name: Operand(
            blocks=tuple(operand.blocks[old] for old in ranks), layouts=tuple(operand.layouts[old] for old in ranks)
        )
        for name, operand in case.inputs.items()
    }
    faults = tuple(Fault(rank=now.get(f.rank, f.rank), before=f.before, delay=f.delay) for f in case.faults)
    return Case(program=Program(mesh=mesh, steps=steps, results=program.results), inputs=inputs, faults=faults)


def _step(step: Step, renamed: dict[str, str], now: dict[int, int]) -> Step:
    ranks = None if step.ranks is None else tuple(sorted(now.get(rank, rank) for rank in step.ranks))
    axes = tuple(renamed.get(axis, axis) for axis in step.axes)
    return msgspec.structs.replace(step, axes=axes, ranks=ranks)


def _exchanged(case: Case, random: Random) -> Case:
    """Return the case with the elements of each operand in other places, but for blocks whose layout ties them."""
    inputs: dict[str, Operand] = {}
    for name, operand in case.inputs.items():
        free = [at for at, layout in enumerate(operand.layouts) if layout != "broadcast"]
        blocks: list[Any] = list(operand.blocks)
        for kind in dict.fromkeys(operand.blocks[at].dtype for at in free):  # a set has another order in each process
            alike = [at for at in free if operand.blocks[at].dtype == kind]
            for at, block in zip(alike, _shuffled([operand.blocks[at] for at in alike], random), strict=True):
                blocks[at] = block
        inputs[name] = Operand(blocks=tuple(blocks), layouts=operand.layouts)
    return msgspec.structs.replace(case, inputs=inputs)


def _shuffled(blocks: list[Tensor], random: Random) -> list[Tensor]:
    arrays = [to_array(block) for block in blocks]
    pool = np.concatenate([array.reshape(-1) for array in arrays])
    # The old generator of NumPy, of which it promises that a seed gives the same numbers for ever.
    mixed, start, made = pool[np.random.RandomState(random.getrandbits(32)).permutation(len(pool))], 0, []
    for array in arrays:
        made.append(from_array(mixed[start : start + array.size].reshape(array.shape)))
        start += array.size
    return made
