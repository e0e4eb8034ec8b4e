"""One process of a peer: it prepares, times and checks what the driver asks for, line by line.

``python -m conformance.bench.collectives.member MODULE SOCKET RANKS FOLDER [RANK]``; ranks that a launcher starts
are numbered by it. Between two requests it blocks on its socket, so that nobody spins while others are timed.
"""

from __future__ import annotations

import importlib
import socket
import sys
import time
from typing import Any, Protocol, get_type_hints

import msgspec

from conformance import __version__


class Peer(Protocol):
    """An implementation, or the part of it that lives in this process."""

    def describe(self) -> dict[str, str]:
        """Return versions and whatever changes how fast it is."""

    def prepare(self, point: Any) -> None:
        """Make the inputs where the implementation wants them, and run once, so that all is compiled."""

    def once(self) -> float | None:
        """Run once; return the seconds until the call had come back, where that is before the result is there."""

    def meet(self) -> None:
        """Wait until every rank is here, outside what is timed."""

    def wrong(self) -> int:
        """Run once on fresh inputs and return how many elements of this process are not what NumPy says."""


def main(arguments: list[str]) -> None:
    """Serve the driver until it closes the socket."""
    name, address, ranks, folder, *given = arguments
    rank = int(given[0]) if given else 0
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        lines = connection.makefile("rwb")
        peer: Peer | None = None
        _say(lines, {"version": __version__})
        for line in lines:
            asked = msgspec.json.decode(line)
            try:
                if peer is None:
                    peer = importlib.import_module(name).peer(rank, int(ranks), folder)
                _say(lines, _answer(peer, asked))
            except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its answer
                _say(lines, {"error": f"{type(error).__name__}: {error}"[:2000]})


def _answer(peer: Peer | None, asked: dict[str, Any]) -> dict[str, Any]:
    assert peer is not None  # the caller made it
    what = asked["do"]
    if what == "describe":
        return {"described": peer.describe()}
    if what == "prepare":
        # A benchmark's points are what its peers take.
        (kind, *_) = get_type_hints(peer.prepare).values()
        peer.prepare(msgspec.convert(asked["point"], kind))
        return {}
    if what == "check":
        return {"wrong": peer.wrong()}
    if what == "overlap":
        return {"seconds": peer.overlap()}  # type: ignore[attr-defined]  # only asked of those that start and go on
    if what in ("parts", "timeline"):
        return {what: getattr(peer, what)(**{name: each for name, each in asked.items() if name != "do"})}
    seconds, launching = [], []
    for number in range(asked["times"] + 1):
        peer.meet()
        began = time.perf_counter()
        launched = peer.once()
        spent = time.perf_counter() - began
        # The first comes after another's turn, to cold caches.
        if number:
            seconds.append(spent)
            launching.append(launched)
    return {"seconds": seconds, "launching": [each for each in launching if each is not None]}


def _say(lines: Any, content: dict[str, Any]) -> None:
    lines.write(msgspec.json.encode(content) + b"\n")
    lines.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
