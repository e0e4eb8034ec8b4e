"""The schedule file: what is written is read back, valid by the published schema, and what is malformed is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from conformance.cases.graph.buffer import Buffer, Device
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.codec import load_schedule, parse, save_schedule, text
from conformance.cases.schedule.index_map import Affine, contiguous, elements
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Load, Store
from conformance.cases.schedule.runs import runs
from conformance.cases.schedule.schedule import Access, Copy, Kernel, Place, Schedule, Wait
from conformance.cases.schedule.schema import FOLDER, schedule_schema, written
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.tensor import from_array

ONE = from_array(np.float32(1))


N = {"low": 1, "high": 4, "value": 2}


def increment() -> Schedule:
    """Return the schedule of b = a + 1 on d0, copied to d1 under way."""
    nodes = (
        Node(id="a", op="buf", shape=(4,), dtype="float32", device="d0", arg="a"),
        Node(id="1", op="const", shape=(4,), dtype="float32", device="d0", arg=ONE),
        Node(id="b", op="alu", of=("a", "1"), shape=(4,), dtype="float32", device="d0", arg="add"),
        Node(id="c", op="copy", of=("b",), shape=(4,), dtype="float32", device="d1"),
    )
    body = Body(
        extents=(4,),
        instructions=(
            Load(access=0),
            Constant(value=ONE),
            Alu(op="add", of=(0, 1)),
            Store(access=1, of=2),
        ),
    )
    every = contiguous((4,))
    reads, writes = Access(buffer="a", map=every), Access(buffer="b", write=True, map=every, node="b")
    moved = (Access(buffer="b", ranges=((0, 16),)), Access(buffer="c", write=True))
    return Schedule(
        devices={"d0": Device(), "d1": Device(alignment=0)},
        buffers=(
            Buffer(id="a", size=16, dtype="float32", device="d0", preexisting=True),
            Buffer(id="b", size=16, dtype="float32", device="d0"),
            Buffer(id="c", size=16, dtype="float32", device="d1", output=True),
        ),
        items=(
            Kernel(id="add", device="d0", accesses=(reads, writes), bodies=(body,), provenance=("b",)),
            Copy(id="send", accesses=moved, handle="h", provenance=("c",)),
            Wait(id="sent", handle="h"),
        ),
        graph=Graph(nodes=nodes, results=("c",)),
        places=(Place(node="c", buffer="c"),),
    )


def test_the_schedule_schema_is_current() -> None:
    found = (FOLDER / "schedule.schema.json").read_text()
    assert found == written(schedule_schema()), "run python -m conformance.cases.schedule.schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(found))


def test_a_schedule_comes_back_and_the_same_one_gives_the_same_bytes(tmp_path: Path) -> None:
    save_schedule(increment(), tmp_path / "schedule.json")
    found = load_schedule(tmp_path / "schedule.json")
    assert found == increment()
    assert text(found) == (tmp_path / "schedule.json").read_text()
    jsonschema.Draft202012Validator(schedule_schema()).validate(json.loads(text(found)))


def refusal(how: Any) -> tuple[str, str]:
    document = json.loads(text(increment()))
    how(document)
    with pytest.raises(ScheduleError) as caught:
        parse(json.dumps(document).encode())
    return caught.value.clause, str(caught.value)


def node(document: Any, name: str, op: str, shape: list[Any], **rest: Any) -> None:
    made = {"id": name, "op": op, "shape": shape, "dtype": "float32", "device": "d0", **rest}
    document["graph"]["nodes"].append(made)


def planned(document: Any, offset: int) -> None:
    document["buffers"][1].update(base="a", offset=offset, planned=True)


def bodies(document: Any, extents: list[int]) -> None:
    document["items"][0]["bodies"].append({"extents": extents, "instructions": []})


def two_sizes(document: Any) -> None:
    """Add what holds for the least and the greatest values of n and m, and not for those asked for."""
    document["variables"] = {name: {"low": 1, "high": 4} for name in "nm"}
    document["graph"]["variables"] = {"n": N, "m": {**N, "value": 3}}
    for name in "nm":
        node(document, f"a{name}", "shrink", [name], of=["a"], arg=[[0, name]])
    node(document, "s", "alu", ["n"], of=["an", "am"], arg="add")


def function(document: Any, number: Any) -> None:
    param = {"id": "p", "op": "param", "shape": [4], "dtype": "float32", "device": "d0", "arg": number}
    document["graph"]["functions"] = {"f": {"nodes": [param], "result": "p"}}


def cyclic(document: Any) -> None:
    document["items"][0]["after"], document["items"][1]["after"] = ["send"], ["add"]


def forward(document: Any) -> None:
    document["items"][0]["after"], document["items"][1]["after"] = ["send"], []


@pytest.mark.parametrize(
    ("how", "clause", "words"),
    [
        (lambda d: d.update(format=3), "form.C0", "it has format 3; this suite reads the formats 1 and 2"),
        (lambda d: d.update(extra=1), "form.C0", "unknown field"),
        (lambda d: d["items"][1].update(id="add"), "form.C1", "item 'add': two items"),
        (lambda d: d["places"].append(d["places"][0]), "form.C1", "place of 'c': two places have this node"),
        (lambda d: d["items"][0]["accesses"][0].update(buffer="x"), "form.C2", "'add', access 0: buffer 'x' is not"),
        (lambda d: d["items"][0].update(provenance=["z"]), "form.C3", "item 'add': 'z' is no node"),
        (lambda d: d["items"][0].update(device="d9"), "form.C3", "item 'add': device 'd9' is not declared"),
        (lambda d: d["items"][2].update(handle="g"), "form.C4", "item 'sent': it waits for 'g', never started"),
        (lambda d: d["graph"]["nodes"].append(
            {"id": "w", "op": "assign", "of": ["b", "a"], "shape": [4], "dtype": "float32", "device": "d0"}
        ), "form.C5", "node 'w': the target 'b' of an assign is not a view of a buffer"),
        (cyclic, "form.C6", "item 'add': it is after 'send', and that after it, a cycle"),
        (forward, "form.C6", "item 'add': it is after 'send', which is listed later"),
        (lambda d: d["graph"]["nodes"][1].update(op="alu", arg="neg", of=["b"]), "form.C6", "node '1': it and its so"),
        (lambda d: d["items"][0]["accesses"][0].update(buffer="c"), "form.C7", "kernel on d0 uses 'c' on d1"),
        (lambda d: d["graph"]["nodes"][1].update(device="d1"), "form.C7", "node 'b' (alu): it is on d0"),
        (lambda d: d["buffers"][0].update(size=15), "form.C8", "buffer 'a': 15 bytes"),
        (lambda d: d["buffers"][0].update(space=-1), "form.C8", "buffer 'a': -1 is no number of a memory"),
        (lambda d: d["buffers"][1].update(base="a", space=1), "form.C8", "memory 1 is none of 'a', in memory 0"),
        (lambda d: d["items"][1]["accesses"][0].update(ranges=[[8, 20]]), "form.C8", "bytes 8 to 20 are not in the 16"),
        (lambda d: d["items"][0]["accesses"][0]["map"][0].update(extents=[1 << 40]), "form.C8", "or too large"),
        (lambda d: d["graph"]["nodes"][1].update(shape=[1 << 40]), "form.C10", "node '1' (const): shape [10995"),
        (lambda d: d["graph"]["nodes"][2].update(shape=[5]), "form.C10", "node 'b' (alu): its shape is [5]"),
        (lambda d: d["items"][0]["bodies"][0]["instructions"][2].update(of=[0, 7]), "form.C11", "instruction 2: it"),
        (lambda d: d["items"][0]["bodies"][0]["instructions"][2].update(op="shl"), "form.C11", "shl of float32: it"),
        (lambda d: d["graph"].update(variables={"n": N}), "form.C3", "graph: variable 'n' is not declared"),
        (lambda d: d.update(variables={"n": {"low": 1, "high": 3}}, graph={**d["graph"], "variables": {"n": N}}),
         "form.C8", "graph: variable 'n' is 2 in 1 to 4, and the schedule declares 1 to 3"),
        (lambda d: d["graph"]["nodes"][2].update(arg="xor"), "form.C10", "xor of float32: it takes bool and integer"),
        (lambda d: [d.pop("graph"), d.pop("places")], "form.C3", "item 'add': 'b' is no node of the graph"),
        (lambda d: d["items"][0]["bodies"][0]["instructions"].append({"do": "store", "access": 1, "of": 3}), "form.C11",
         "it takes [3], not all values before it"),
        (lambda d: d["items"][0]["bodies"][0].update(extents=[2]), "form.C11", "access 0 is not over the extents [2]"),
        (lambda d: bodies(d, [-4]), "form.C8", "item 'add', body 1: extents [-4] are negative"),
        (lambda d: bodies(d, [-1]), "form.C8", "item 'add', body 1: extents [-1] are negative"),
        (lambda d: bodies(d, [-2, -2]), "form.C8", "item 'add', body 1: extents [-2, -2] are negative"),
        (lambda d: bodies(d, [0, 1 << 61]), "form.C8", "item 'add', body 1: extents [0, 2305843009213693952] are"),
        (lambda d: d["items"][0]["accesses"][0].update(map=[{"extents": [0, 1 << 61], "strides": [1, 1]}]), "form.C8",
         "item 'add', access 0: extents [0, 2305843009213693952] are"),
        (lambda d: d["items"][0]["accesses"][0].update(map=[{"extents": [0], "strides": [1 << 70]}]), "form.C8",
         "item 'add', access 0: positions beyond 64 bits"),
        (lambda d: planned(d, 1 << 63), "form.C8", "buffer 'b': 16 bytes at 9223372036854775808 are no float32"),
        (lambda d: d["devices"]["d0"].update(alignment=-3), "form.C8", "device 'd0': -3 is no alignment"),
        (two_sizes, "form.C10", "node 's' (alu): its sources have the shapes [2], [3]"),
        (lambda d: function(d, True), "form.C10", "node 'p' (param): True is no number of a parameter"),
        (lambda d: node(d, "e", "const", [0, 1 << 62], arg=d["graph"]["nodes"][1]["arg"]), "form.C10",
         "node 'e' (const): shape [0, 4611686018427387904] has more than"),
        (lambda d: node(d, "e", "reshape", [1] * 69 + [4], of=["a"]), "form.C10", "elements, or 32 axes"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_with_the_item_and_the_reason(how: Any, clause: str, words: str) -> None:
    found, message = refusal(how)
    assert found == clause
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff", b"null", b"{}"])
def test_a_file_that_is_no_schedule_is_refused(content: bytes) -> None:
    with pytest.raises(ScheduleError):
        parse(content)


MAPS = [
    contiguous((2, 3)),
    (Affine(extents=(3, 2), strides=(1, 3)),),
    (Affine(extents=(3,), strides=(-2,), offset=5),),
    (Affine(extents=(4, 3), strides=(0, 2)),),
    (Affine(extents=(3, 3), strides=(2, 1), offset=1),),
    (Affine(extents=(5,), strides=(1,), offset=-1, mask=((1, 4),)),),
    (Affine(extents=(3, 4), strides=(5, 1), mask=((0, 2), (1, 1))),),
    (Affine(extents=("n", 2), strides=(4, 1), variables={"n": 3}),),
    (Affine(extents=(2, 2), strides=(2, 1)), *contiguous((5,), 2)),
    (Affine(extents=(6,), strides=(1,)), Affine(extents=(2, 3), strides=(1, 2), mask=((0, 2), (0, 2)))),
]


@pytest.mark.parametrize("index_map", MAPS)
def test_the_runs_of_a_map_are_the_elements_it_touches(index_map: tuple[Affine, ...]) -> None:
    found, valid = elements(index_map, {"n": 3})
    covered = [element for start, stop in runs(index_map, {"n": 3}) for element in range(start, stop)]
    assert covered == sorted(set(found[valid].tolist()))
