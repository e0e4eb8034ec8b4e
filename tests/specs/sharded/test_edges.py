"""Seldom draws of sharded tensors hold every pattern, each with a meaning, and what patterns are for is seen."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from conformance.backends.lowering import exchanges, lowered
from conformance.backends.opencl.settings import Settings
from conformance.backends.reference import Reference
from conformance.backends.reference.sharded import ShardedWalk
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.dtypes import kind as kind_of
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.qualification.sharded_mutants import Changed, Way
from conformance.reference.graph.nodes import axes_of
from conformance.reference.sharded.parts import Parts, Sharding
from conformance.runner.draws import numbered
from conformance.specs.domains.choices import Choice
from conformance.specs.sharded import CLAUSES
from conformance.specs.sharded.domain import edges
from conformance.specs.sharded.domain.patterns import large


def cases(seed: int) -> list[Any]:
    """Return the cases of the seldom draws of a run of 150."""
    made = (Choice(lambda draw, turn=turn: edges.edges(draw, turn)) for turn in range(10))
    return [numbered(each, seed, number + 1)[0] for number, each in enumerate(made)]


def test_a_run_has_every_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()

    def told(name: str, pattern: edges.Pattern) -> edges.Pattern:
        return lambda e: (seen.add(name), pattern(e))[1]

    every = {name: pattern for kind in edges.TURNS[:10] for name, pattern in kind.patterns.items()}
    for patterns in {id(kind.patterns): kind.patterns for kind in edges.TURNS[:10]}.values():
        for name in patterns:
            monkeypatch.setitem(patterns, name, told(name, every[name]))  # type: ignore[arg-type]  # they are dicts
    cases(3)
    assert seen == set(every)


def test_a_run_has_parts_on_both_sides_of_each_size_at_which_the_engine_does_otherwise() -> None:
    least = exchanges.STORED
    assert (least, Settings().split_from) == (large.STORED, large.STAGED)
    made: Counter[str] = Counter()
    for case in cases(0):
        graph = lowered(case)[0].graph
        shapes = {node.id: node.shape for node in graph.nodes}
        sizes = {name: math.prod(int(extent) for extent in shape) for name, shape in shapes.items()}
        own = {node.arg for node in case.of.graph.nodes}
        for node in graph.nodes:
            size = sizes[node.id]
            uneven = len({shapes[name] for name in node.of}) > 1
            if node.op == "collective" and uneven:
                made[f"{node.arg} {'at' if size == least else 'above' if size > least else 'below'}"] += 1
            elif node.op == "buf" and str(node.arg).startswith("joined"):
                made["written"] += size > least
            elif node.op == "reduce":
                made["folded in stages"] += sizes[node.of[0]] // max(size, 1) >= Settings().split_from
            elif node.arg == "or" and "or" not in own:
                made["joined"] += size < least
    assert min(made[each] for each in ("gather at", "gather above", "all_gather at", "written", "joined")) > 0
    assert made["folded in stages"] > 0
    assert made["gather below"] == 0


@pytest.mark.parametrize("seed", [0, 7])
def test_patterns_mean_what_the_model_of_parts_makes_of_them(seed: int) -> None:
    for case in cases(seed):
        subject = sharded_meaning(case)
        assert subject.legal, subject.rejected
        verdict = judge_sharded(subject, Reference().sharded(case), CLAUSES, STANDARD)
        assert verdict.outcome == "passed", verdict.detail


def test_a_run_folds_parts_without_elements_of_every_kind() -> None:
    met = set()
    for case in cases(0):
        for node in (each for each in case.of.graph.nodes if each.op == "reduce" and each.of[0] in case.homes):
            for split in case.homes[node.of[0]].splits:
                if any(begin == end for begin, end in pairwise(split.cuts)) and split.axis in axes_of(node):
                    met.add((kind_of(node.dtype), node.dtype.startswith("u"), node.fold))
    words = {"add", "mul", "max", "min"}
    assert met >= {("integer", unsigned, word) for unsigned in (False, True) for word in (*words, "and")}
    assert met >= {("float", False, word) for word in words} | {("bool", False, word) for word in ("and", "or", "mul")}


def test_pending_folds_have_terms_on_several_devices_and_are_widened() -> None:
    cuts, widened = [], set()
    for case in cases(0):
        late = {node.id: node for node in case.of.graph.nodes if node.op == "reduce" and node.id in case.moves}
        homes = [case.homes.get(node.of[0], Placement()) for node in late.values()]
        cuts += [split.cuts for home in homes for split in home.splits]
        casts = [node for node in case.of.graph.nodes if node.op == "cast" and node.of[0] in late]
        widened |= {(late[node.of[0]].dtype, node.dtype) for node in casts}
    assert sum(len(set(each)) > 2 for each in cuts) > len(cuts) * 3 // 4
    assert widened >= {("int8", "int32"), ("uint8", "int8"), ("float32", "int32")}


class SecondCopyIsOld(ShardedWalk):
    """Keeps what a copy to all devices gave, although its source was written since."""

    def __init__(self, *args: Any) -> None:
        self.kept: dict[tuple[str, ...], Parts] = {}
        super().__init__(*args)

    def made(self, node: Node, of: list[Any]) -> Parts:
        if node.op != "copy" or self.nodes[node.of[0]].op != "buf" or node.id in self.sharded.moves:
            return super().made(node, of)
        return self.kept.setdefault(node.of, super().made(node, of))


class PendingOnItsOwnAxis(Sharding):
    """Scatters a pending sum over its own devices in the order from the last to the first."""

    def moved(self, value: Parts, placement: Placement) -> Parts:
        made = super().moved(value, placement)
        own = {name for split in placement.splits for name in split.along} & set(value.placement.partial)
        alike = len({part.shape for part in made.parts}) == 1
        return Parts(made.shape, made.placement, made.parts[::-1]) if own and alike else made


class ZerosInMaxima(Sharding):
    """Begins a maximum of a part without elements with a zero."""

    def step(self, node: Node, parts: Any) -> Array:
        made = super().step(node, parts)
        empty = node.op == "reduce" and node.fold == "max" and 0 in parts[0].shape
        return np.zeros_like(made) if empty else made


class IndexOfTheLastPart(Sharding):
    """Counts an index of the last part of an axis in the length of the first."""

    def done(self, node: Node, of: Any, pending: Any = None) -> Parts:
        along = of[0].placement.splits if node.op == "gather" else ()
        splits = [split for split in along if str(split.axis) == str(node.arg)]
        if not splits or not splits[0].cuts[1]:
            return super().done(node, of, pending)
        first, last, index = splits[0].cuts[1], splits[0].cuts[-2], self.gathered(of[1])
        wrapped = np.where(index >= last, last + (index - last) % first, index).astype(index.dtype)
        return super().done(node, [of[0], self.placed(wrapped, Placement())], pending)


class MaskedTwice(Sharding):
    """Gathers what is real on one device of a grid in the wrong order."""

    def gathered(self, value: Parts) -> Array:
        out = super().gathered(value)
        return np.flip(out, 0) if len(value.placement.masks) > 1 and out.ndim else out


EVERY_WRONG = [SecondCopyIsOld, PendingOnItsOwnAxis, ZerosInMaxima, IndexOfTheLastPart, MaskedTwice]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("wrong", EVERY_WRONG)
def test_patterns_show_what_they_are_for(wrong: Way, seed: int) -> None:
    backend = Changed(wrong)
    verdicts = (judge_sharded(sharded_meaning(case), backend.sharded(case), CLAUSES, STANDARD) for case in cases(seed))
    assert any(verdict.outcome == "failed" for verdict in verdicts)
