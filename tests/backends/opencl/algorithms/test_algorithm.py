"""Which algorithm runs: below, at and above every threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.lower.algorithm import choose
from conformance.backends.opencl.settings import Algorithm, Settings, from_environment, guarantees
from conformance.cases.declarations.guarantees import check_guarantees

RING = Settings(ring_from=100, ring_members=3)


@pytest.mark.parametrize(
    ("elements", "members", "chosen"), [(99, 3, "direct"), (100, 3, "ring"), (101, 3, "ring"), (100, 2, "direct")]
)
def test_the_ring_starts_at_its_thresholds(elements: int, members: int, chosen: str) -> None:
    assert choose("all_reduce", elements, members, RING) == chosen
    assert choose("reduce_scatter", elements, members, RING) == chosen
    assert choose("all_to_all", elements, members, RING) == "direct"


@pytest.mark.parametrize(
    ("elements", "chosen"),
    [
        (10, "one_shot"),
        (11, "direct"),
        (99, "direct"),
        (100, "tree"),
        (199, "tree"),
        (200, "all_to_all"),
        (300, "ring"),
    ],
)
def test_every_algorithm_has_a_threshold(elements: int, chosen: str) -> None:
    settings = Settings(one_shot_upto=40, tree_from=100, all_to_all_from=200, ring_from=300)
    assert choose("all_reduce", elements, 3, settings, width=4, realized=True) == chosen
    assert choose("gather", elements, 3, settings, width=4, realized=True) == "direct"


def test_only_a_computed_operand_alone_in_its_call_is_reduced_in_one_shot() -> None:
    assert choose("all_reduce", 1, 2, Settings(), realized=True) == "one_shot"
    assert choose("all_reduce", 1, 2, Settings(), realized=False) == "direct"
    assert choose("all_reduce", 1, 2, Settings(), realized=True, pieces=2) == "direct"
    assert choose("all_reduce", 1, 2, Settings(force="one_shot"), pieces=2) == "direct"
    assert choose("reduce", 1, 3, Settings(), realized=True) == "direct"


def test_a_forced_algorithm_is_taken_wherever_it_applies() -> None:
    assert choose("all_gather", 1, 1, Settings(force="ring")) == "ring"
    assert choose("permute", 1, 1, Settings(force="ring")) == "naive"
    assert choose("arg_reduce", 1, 8, Settings(force="tree")) == "naive"
    assert choose("scatter", 1, 8, Settings(force="tree")) == "tree"
    for algorithm in ("naive", "direct", "all_to_all", "one_shot"):
        assert choose("ragged_all_to_all", 1, 8, Settings(force=algorithm)) == algorithm


def test_the_environment_chooses_and_a_wrong_word_says_which_are_right() -> None:
    assert from_environment({"CONFORMANCE_OPENCL_ALGORITHM": "naive"}).force == "naive"
    assert from_environment({}) == Settings()
    assert from_environment({"CONFORMANCE_OPENCL_WITHOUT": "merge,vectors"}) == Settings(merge=False, vectors=False)
    bare = from_environment({"CONFORMANCE_OPENCL_WITHOUT": "all"})
    assert not any((bare.fuse, bare.fuse_reduce, bare.fuse_rows, bare.merge, bare.vectors, bare.reuse))
    with pytest.raises(ValueError, match=r"names 'some'; known are fuse, .*, pool, all"):
        from_environment({"CONFORMANCE_OPENCL_WITHOUT": "some"})
    with pytest.raises(ValueError, match="'rign'; known are naive, ring, direct, all_to_all, tree, one_shot"):
        from_environment({"CONFORMANCE_OPENCL_ALGORITHM": "rign"})
    with pytest.raises(ValueError, match="known are basic, pthread"):
        from_environment({"CONFORMANCE_OPENCL_DEVICES": "gpu"})
    with pytest.raises(ValueError, match="ring_from must be at least 1, got 0"):
        Settings(ring_from=0)
    with pytest.raises(ValueError, match="one_shot_upto must be at least 0, got -1"):
        Settings(one_shot_upto=-1)


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        (Settings(), {"size", "position"}),
        (Settings(one_shot_upto=200), {"size", "position"}),
        (Settings(all_to_all_from=100), {"position"}),
        (Settings(ring_from=100), set()),
        (Settings(tree_from=100), set()),
        (Settings(force="naive", ring_from=100), {"size", "position"}),
        (Settings(force="all_to_all", all_to_all_from=100), {"size", "position"}),
    ],
)
def test_size_and_place_are_guaranteed_where_every_algorithm_in_reach_keeps_the_order(
    settings: Settings, kept: set[str]
) -> None:
    assert {"size", "position"} & set(guarantees(settings)) == kept
    check_guarantees(guarantees(settings))
    assert {"run_to_run", "ranks_agree", "rank_relabelling"} <= set(guarantees(settings))


@pytest.mark.parametrize(("algorithm", "ordered"), [("ring", False), ("tree", False), ("all_to_all", True)])
def test_a_forced_algorithm_guarantees_its_own_order(algorithm: Algorithm, ordered: bool) -> None:
    assert ("position" in guarantees(Settings(force=algorithm))) == ordered


@pytest.mark.parametrize(
    ("settings", "alike"), [({}, True), ({"one_shot_upto": 256}, True), ({"all_to_all_from": 64}, False)]
)
def test_a_size_from_which_local_axes_are_folded_first_changes_bits(
    settings: dict[str, int], alike: bool, opencl: Any, make_case: Any, values: Any
) -> None:
    drawn = np.random.default_rng(0).standard_normal((4, 64, 3)).astype(np.float32)
    few, many = (
        values(opencl(**settings).execute(make_case("all_reduce", list(drawn[:, :rows]), op="sum", local_axes=(1,))))
        for rows in (8, 64)
    )
    assert bool((few[0] == many[0][:8]).all()) == alike == ("size" in guarantees(Settings(**settings)))
