"""The file of a sharded case, and which placements fit."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis
from conformance.cases.schemas import FOLDER, written
from conformance.cases.sharded.case import ShardedCase, sharded_id
from conformance.cases.sharded.codec import load_sharded, save_sharded
from conformance.cases.sharded.features import placement_words
from conformance.cases.sharded.placement import Placement, Split, even_cuts, held, layout_of
from conformance.cases.sharded.schema import sharded_case_schema
from conformance.cases.sharded.validate import validate_sharded
from conformance.cases.tensor.tensor import from_array

FOUR = (Axis("i", 4),)
GRID = (Axis("i", 2), Axis("j", 2))


def rows(*cuts: int, along: tuple[str, ...] = ("i",), axis: int = 0, **rest: object) -> Placement:
    return Placement(splits=(Split(axis=axis, along=along, cuts=cuts),), **rest)  # type: ignore[arg-type]


def case(home: Placement, move: Placement | None = None, shape: tuple[int, ...] = (5, 2)) -> ShardedCase:
    """Return b = copy(a), with both placed."""
    kept = {"shape": shape, "dtype": "float32", "device": "d0"}
    nodes = (Node(id="a", op="buf", arg="a", **kept), Node(id="b", op="copy", of=("a",), **kept))  # type: ignore[arg-type]
    of = GraphCase(
        graph=Graph(nodes=nodes, results=("b",)),
        buffers={"a": from_array(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))},
        rounds=(Round(until=2, asked=("b",)),),
    )
    moves = {} if move is None else {"b": move}
    return ShardedCase(mesh=FOUR, devices=(0, 1, 2, 3), of=of, homes={"a": home}, moves=moves)


def test_the_schema_of_sharded_cases_is_current() -> None:
    text = (FOLDER / "sharded_case.schema.json").read_text()
    assert text == written(sharded_case_schema()), "run python -m conformance.cases.sharded.schema"


def test_a_case_comes_back(tmp_path: Path) -> None:
    whole = case(rows(0, 2, 4, 5, 5), rows(0, 0, 1, 1, 2, axis=1))
    save_sharded(whole, tmp_path / "case.json")
    assert load_sharded(tmp_path / "case.json") == whole
    text = (tmp_path / "case.json").read_text()
    jsonschema.Draft202012Validator(sharded_case_schema()).validate(json.loads(text))
    assert sharded_id(whole).startswith("sharded_2_4/float32-4/")
    (tmp_path / "case.json").write_text(text.replace('"copy"', '"contig"'))
    with pytest.raises(CaseError, match="neither a copy nor a reduce"):
        load_sharded(tmp_path / "case.json")


@pytest.mark.parametrize(
    ("extent", "cuts"), [(5, (0, 2, 4, 5, 5)), (0, (0, 0, 0, 0, 0)), (8, (0, 2, 4, 6, 8)), (1, (0, 1, 1, 1, 1))]
)
def test_an_axis_is_cut_in_parts_of_the_rounded_up_size(extent: int, cuts: tuple[int, ...]) -> None:
    assert even_cuts(extent, 4) == cuts


def test_of_an_axis_with_a_mask_only_real_parts_count() -> None:
    masked = rows(0, 2, 3, 5, 6, masks={"i": (False, True, False, True)})
    assert validate_sharded(case(masked, shape=(2, 2))) == {}
    assert layout_of((2, 2), masked, FOUR).boxes == (None, ((0, 1), (0, 2)), None, ((1, 2), (0, 2)))
    assert held((2, 2), masked, FOUR)[0] == (2, 2)


def test_several_mesh_axes_number_parts_in_their_own_order() -> None:
    cut = rows(0, 1, 2, 3, 4, along=("j", "i"))
    assert [box[0] for box in layout_of((4,), cut, GRID).boxes if box] == [(0, 1), (2, 3), (1, 2), (3, 4)]


UNFIT = {
    "the bounds .0, 2, 4, 5, 6. are of 6 real ones": rows(0, 2, 4, 5, 6),
    "bounds begin at 0, and none is less": rows(0, 3, 2, 5, 5),
    "5 bounds are right": rows(0, 2, 5),
    "axis 2 is out of range; the tensor has axes 0 to 1": rows(0, 2, 4, 5, 5, axis=2),
    "axis -1 is out of range": rows(0, 1, 1, 1, 2, axis=-1),
    "'x' is no axis of the mesh, which has i": rows(0, 2, 4, 5, 5, along=("x",)),
    "mesh axis 'i' is used twice": Placement(
        splits=(rows(0, 2, 4, 5, 5).splits[0], rows(0, 1, 1, 2, 2, axis=1).splits[0])
    ),
    "no part is real": rows(0, 2, 4, 5, 5, masks={"i": (False,) * 4}),
    "the mask of mesh axis 'i' has 2 entries for 4": rows(0, 2, 4, 5, 5, masks={"i": (True, True)}),
}


@pytest.mark.parametrize("reason", UNFIT)
@pytest.mark.parametrize("moved", [False, True])
def test_a_placement_that_does_not_fit_is_named_with_what_would_be_right(reason: str, moved: bool) -> None:
    wrong = case(Placement(), UNFIT[reason]) if moved else case(UNFIT[reason])
    found = validate_sharded(wrong)
    assert list(found) == (["b"] if moved else ["a"])
    with pytest.raises(ValueError, match=reason):
        raise ValueError(next(iter(found.values()))[1])


def test_a_tensor_without_axes_is_not_split_and_no_device_is_named_twice() -> None:
    assert "the tensor has no axes" in validate_sharded(case(rows(0, 0, 0, 1, 1), shape=()))["a"][1]
    twice = replace(case(Placement()), devices=(0, 1, 1, 2))
    assert "device 1 is named twice" in validate_sharded(twice)["mesh"][1]
    with pytest.raises(CaseError, match="3 devices are named for a mesh of 4"):
        validate_sharded(replace(twice, devices=(0, 1, 2)))


@pytest.mark.parametrize(
    ("placement", "shape", "word"),
    [
        (rows(0, 2, 4, 5, 5, axis=2), (5, 2), "no_axis"),
        (rows(0, 0, 0, 1, 1), (), "no_axis"),
        (rows(0, 2, 4, 5, 5, along=("x",)), (5, 2), "no_mesh_axis"),
        (UNFIT["mesh axis 'i' is used twice"], (5, 2), "no_mesh_axis"),
        (rows(0, 2, 4, 5, 6), (5, 2), "bounds"),
    ],
)
def test_what_a_placement_does_not_fit_by_is_a_word_of_claims(
    placement: Placement, shape: tuple[int, ...], word: str
) -> None:
    assert word in placement_words(placement, shape, FOUR)
