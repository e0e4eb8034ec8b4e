"""MLX's distributed functions over its ring of processes, on CPU: a process for each member of a group.

Here: what is claimed, and how a step is handed to the processes; ``member`` is the program of one of them.
Not here: any other way in which MLX computes: its graphs and its arrays are not judged.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Final

from conformance.backends.attribution import framework
from conformance.backends.base import Backend
from conformance.backends.mlx.member import serve
from conformance.cases.tensor.dtypes import Array

DTYPES: Final = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64",
)  # fmt: skip
LARGEST: Final = 4
"""Members of a ring, of which each is a process."""

# A ring has no groups within it (`split` raises), so that each group of a case is a ring of its own. Misuse that only
# another member's blocks show hangs a ring, and MLX documents no refusals: legal calls alone are claimed.
LIMITS: Final = {"dtype": DTYPES, "world": tuple(map(str, range(1, LARGEST + 1))), "calls": ("legal",)}


class Mlx(Backend):
    """Runs a collective in the ring of each group, one group after the other."""

    name = "mlx"
    adapts = True
    claims: ClassVar = {
        "all_reduce": {**LIMITS, "op": ("sum", "max", "min"), "local_axes": ()},
        # all_gather joins along the first axis, and takes no other.
        "all_gather": {**LIMITS, "ndim": ("1",), "tiled": ("true",), "axis": ("nonnegative",)},
    }

    def __init__(self) -> None:
        """Start no ring: each is started when a group of its size comes."""
        self._rings: dict[int, Ring] = {}

    @property
    def follows(self) -> tuple[str, ...]:
        """Return the source whose documented divergences are MLX's."""
        return ("mlx",)

    def describe(self) -> dict[str, str]:
        """Return the version and how members are connected."""
        return {"mlx": version("mlx"), "ring": "over TCP on the loopback", "device": "cpu"}

    def all_reduce(self, blocks: Sequence[Array], *, op: str, groups: Sequence[Sequence[int]]) -> list[Array]:
        """Return what ``all_sum``, ``all_max`` or ``all_min`` gives in each group."""
        return self._each(f"all_{op}", blocks, groups)

    def all_gather(
        self, blocks: Sequence[Array], *, axis: int, tiled: bool, groups: Sequence[Sequence[int]]
    ) -> list[Array]:
        """Return what ``all_gather`` gives in each group."""
        return self._each("all_gather", blocks, groups)

    def _each(self, function: str, blocks: Sequence[Array], groups: Sequence[Sequence[int]]) -> list[Array]:
        results: list[Any] = [None] * len(blocks)
        for group in groups:
            ring = self._rings.setdefault(len(group), Ring(len(group)))
            for rank, result in zip(group, ring.call(function, [blocks[rank] for rank in group]), strict=True):
                results[rank] = result
        return results

    def close(self) -> None:
        """End all members."""
        for ring in self._rings.values():
            ring.stack.close()


class Ring:
    """Processes that are the members of one ring, started when the first call comes."""

    def __init__(self, size: int) -> None:
        """Have ``size`` members."""
        self.size, self.stack = size, ExitStack()

    @cached_property
    def members(self) -> list[Any]:
        """Return a connection to each member; the first time they are started."""
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        hosts = [[f"127.0.0.1:{port}"] for port in _ports(self.size)]
        (folder / "hosts.json").write_text(json.dumps(hosts))
        context = multiprocessing.get_context("spawn")
        found = []
        for rank in range(self.size):
            near, far = context.Pipe()
            place = {"MLX_RANK": str(rank), "MLX_HOSTFILE": str(folder / "hosts.json")} if self.size > 1 else {}
            process = context.Process(target=serve, args=(far, place), daemon=True)
            process.start()
            self.stack.callback(process.kill)
            found.append(near)
        return found

    def call(self, function: str, blocks: Sequence[Array]) -> list[Array]:
        """Return what each member's call of ``function`` gives; raise what the first of them raised."""
        members = self.members
        for member, block in zip(members, blocks, strict=True):
            member.send((function, block))
        answers = [member.recv() for member in members]
        for answer in answers:
            if isinstance(answer, Exception):
                with framework():
                    raise answer
        return answers


def _ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in found]
