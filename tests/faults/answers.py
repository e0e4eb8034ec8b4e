"""What a vendor's process may answer when it is asked about a graph, a sharded tensor or a typed program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.faults.fault import Fault, Table

Edit = Callable[[dict[str, Any]], Any]

NAMED: Final = {"graph": "a graph", "global": "a sharded tensor", "types": "a typed program"}


def first(found: dict[str, Any], what: str) -> Any:
    """Return the first result, or its layout or type."""
    return next(iter(found[what].values()))


def results(edit: Callable[[list[Any]], Any]) -> Edit:
    """Return the edit of the blocks of the first result."""
    return lambda found: edit(first(found, "results"))


def boxes(edit: Callable[[list[Any]], Any]) -> Edit:
    """Return the edit of where the first result says that its parts are."""
    return lambda found: edit(first(found, "layouts")["boxes"])


def empty(what: str) -> Edit:
    """Return the edit that leaves nothing of results, layouts or types."""
    return lambda found: found.update({what: {}})


def moved(places: list[Any]) -> None:
    """Move the box of device 0 by 1,000 elements along its first axis."""
    begin, end = places[0][0]
    places[0][0] = [begin + 1000, end + 1000]


EVERYWHERE: Final[tuple[tuple[str, Edit], ...]] = (
    ("no result", empty("results")),
    ("one result more", lambda found: found["results"].update(more=first(found, "results"))),
    ("a result without blocks", results(lambda blocks: blocks.clear())),
    ("a block too many", results(lambda blocks: blocks.append(blocks[0]))),
    ("a result that is nothing", results(lambda blocks: blocks.__setitem__(0, None))),
    ("bits of another length", results(lambda blocks: blocks[0].update(bits=blocks[0]["bits"] + "00"))),
    ("bits that are no hex digits", results(lambda blocks: blocks[0].update(bits="zz"))),
    ("an unknown dtype", results(lambda blocks: blocks[0].update(dtype="float31"))),
    ("another dtype", results(lambda blocks: blocks[0].update(dtype="uint4", shape=[0], bits=""))),
    ("another shape", results(lambda blocks: blocks[0].update(shape=[*blocks[0]["shape"], 1]))),
    ("a shape that no memory holds", results(lambda blocks: blocks[0].update(shape=[2**40, 2**40]))),
    ("values and an error", lambda found: found.update(errors=[{"kind": "E", "message": "", "category": "internal"}])),
    ("a schedule that nobody asked for", lambda found: found.update(schedule={"format": 9})),
    ("text for its time", lambda found: found.update(seconds="soon")),
)

SHARDED: Final[tuple[tuple[str, Edit], ...]] = (
    ("no layout", empty("layouts")),
    ("a layout without boxes", boxes(lambda places: places.clear())),
    ("a box too many", boxes(lambda places: places.append(places[0]))),
    ("a box outside the tensor", boxes(moved)),
    ("a box that ends before it begins", boxes(lambda places: places[0].__setitem__(0, [1, 0]))),
    ("a box with a negative beginning", boxes(lambda places: places[0].__setitem__(0, [-1, 1]))),
    ("a box with an axis too many", boxes(lambda places: places[0].append([0, 1]))),
    ("a box of text", boxes(lambda places: places.__setitem__(0, "all"))),
    ("no real part", boxes(lambda places: places.__setitem__(slice(None), [None] * len(places)))),
    ("a layout that is partial along no axis", lambda found: first(found, "layouts").update(partial={"zebra": "add"})),
)

TYPED: Final[tuple[tuple[str, Edit], ...]] = (
    ("no type", empty("types")),
    ("a type with two states along an axis", lambda found: first(found, "types").update(varying=["i"], reduced=["i"])),
    ("a type along an unknown axis", lambda found: first(found, "types").update(varying=["zebra"])),
    ("a state that does not exist", lambda found: first(found, "types").update(mixed=["i"])),
)

ROWS: Final = (
    *(("graph", done, edit) for done, edit in EVERYWHERE),
    *(("global", done, edit) for done, edit in (*EVERYWHERE, *SHARDED)),
    *(("types", done, edit) for done, edit in (*EVERYWHERE, *TYPED)),
)

TABLE: Final = Table(
    "An answer about a graph, a sharded tensor or a typed program",
    "The case does not pass: it is `failed`, `errored` or `protocol_error`, and the command ends with 1.",
    tuple(
        Fault(f"The answer about {NAMED[dialect]} has {done}.", "the case does not pass", (dialect, done, edit))
        for dialect, done, edit in ROWS
    ),
)
