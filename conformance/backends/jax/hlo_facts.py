"""What XLA compiled a typed program to: facts read off the text of its HLO, the language after StableHLO.

A compiler may leave out what no result needs, put two reductions into one instruction, and change the order, so these
are some of the facts of the StableHLO, in any order. An index is part of a larger kernel and is not read.

What is started is an instruction whose name ends in ``-start``, or one in the computation that an ``async-start``
calls; its done names the start as its operand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.program.program import Groups
from conformance.cases.types.lowered import FILL, GLOBAL, Lowered

OPS: Final = {
    "all-gather": "all_gather",
    "all-reduce": "all_reduce",
    "all-to-all": "all_to_all",
    "collective-broadcast": "broadcast",
    "collective-permute": "permute",
    "ragged-all-to-all": "ragged_all_to_all",
    "reduce-scatter": "reduce_scatter",
}
REDUCERS: Final = {"add": "sum", "maximum": "max", "minimum": "min"}

_LINE: Final = re.compile(
    rf"%(?P<name>[\w.\-]+) = (?P<shape>.*?) (?P<op>{'|'.join(OPS)})(?P<start>-start)?\((?P<of>[^)]*)\)(?P<rest>.*)"
)
_COMPUTATION: Final = re.compile(r"^(?:ENTRY )?%(?P<name>[\w.\-]+) .*\{$")
_WRAPPED: Final = re.compile(r"%(?P<start>[\w.\-]+) = .* async-start\(.*calls=%(?P<name>[\w.\-]+)")
_DONE: Final = re.compile(r"-done\(.*?%(?P<start>[\w.\-]+)\)")
_ROOT: Final = re.compile(r"^%?(?P<name>[\w.\-]+) \(.*\{$(?:\n(?!\}).*)*?\n  ROOT .*? (?P<op>[a-z\-]+)\(", re.MULTILINE)
_LISTED: Final = re.compile(r"(?:replica_groups|source_target_pairs)=\{(?P<rows>(?:\{[\d,]*\},?)*)\}")
_COUNTED: Final = re.compile(r"replica_groups=\[(?P<to>[\d,]+)\]<=\[(?P<of>[\d,]+)\](?:T\((?P<order>[\d,]+)\))?")


def read(text: str) -> list[Lowered]:
    """Return a fact for each collective of an HLO text, and for each operand of a reduction of several."""
    regions = {found["name"]: found["op"] for found in _ROOT.finditer(text)}
    wrapped = {found["name"]: found["start"] for found in _WRAPPED.finditer(text)}
    done = Counter(found["start"] for found in _DONE.finditer(text))
    facts, computation = list[Lowered](), ""
    for line in text.splitlines():
        if header := _COMPUTATION.match(line):
            computation = header["name"]
        if found := _LINE.search(line):
            start = found["name"] if found["start"] else wrapped.get(computation)
            waits = {"started": start is not None, "dones": done[start] if start is not None else 0}
            facts += [replace(fact, **waits) for fact in _facts(found, regions)]
    return facts


def _facts(found: re.Match[str], regions: dict[str, str]) -> Iterator[Lowered]:
    op, rest = OPS[found["op"]], found["rest"]
    region = re.search(r"to_apply=%?([\w.\-]+)", rest)
    word = regions.get(region[1], "") if region else ""
    fact = Lowered(
        op=op,
        groups=_groups(rest),
        reducer=REDUCERS.get(word, word),
        global_ids=op in GLOBAL and "use_global_device_ids=true" in rest,
    )
    several = found["of"].count("%") if op in GLOBAL else 1
    yield from [fact] * several


def _groups(rest: str) -> Groups:
    """Return the groups or pairs, which are listed, or are numbers in a row that is shaped, turned and cut."""
    if counted := _COUNTED.search(rest):
        to, of = _numbers(counted["to"]), _numbers(counted["of"])
        order = _numbers(counted["order"]) if counted["order"] else tuple(range(len(of)))
        rows = np.arange(int(np.prod(of))).reshape(of).transpose(order).reshape(to)
        return tuple(tuple(int(rank) for rank in row) for row in rows)
    listed = _LISTED.search(rest)
    groups = [_numbers(row) for row in re.findall(r"\{([\d,]*)\}", listed["rows"])] if listed else []
    most = max(map(len, groups), default=0)
    return tuple((*group, *[FILL] * (most - len(group))) for group in groups)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(",") if each)
