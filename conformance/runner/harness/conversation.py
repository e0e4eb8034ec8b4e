"""One process of a harness, and what is said to it and heard from it, line by line."""

from __future__ import annotations

import selectors
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from conformance.runner.worker.process import Process, ending
from conformance.runner.worker.starts import last_words
from conformance.runner.worker.wire import shown

MOMENT: Final = 0.3
"""Seconds in which a line that nobody asked for would have come."""


class Fault(Exception):
    """What a harness did against the protocol, in one line."""


class Conversation:
    """A process of a harness. Use it as a context manager; at the end whatever is left of the process is killed."""

    def __init__(self, command: Sequence[str], limit: float) -> None:
        """Start ``command``; an answer may take ``limit`` seconds. Raise ``OSError`` when it does not start."""
        self._process, self._limit = Process(command), limit
        self._lines: list[bytes] = []

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.kill(grace=0.0)

    @property
    def folder(self) -> Path:
        """Return the folder that large cases travel in."""
        return self._process.folder

    @property
    def written(self) -> str:
        """Return the last that was written on standard output and standard error."""
        return self._process.stderr_tail()

    def say(self, *parts: bytes) -> None:
        """Queue bytes, as they are, and write what the pipe takes."""
        for part in parts:
            self._process.send(part)

    def hear(self, count: int, what: str) -> list[bytes]:
        """Return the next ``count`` lines; raise ``Fault`` where one does not come in time, or the process ends."""
        deadline = time.monotonic() + self._limit
        while len(self._lines) < count:
            heard = self._listen(min(0.1, max(0.0, deadline - time.monotonic())))
            if heard:
                deadline = time.monotonic() + self._limit
            elif self._process.ended:
                raise Fault(f"{self._ended()} where {what} was due")
            elif time.monotonic() >= deadline:
                raise Fault(f"there was no {what} within {self._limit:g} s")
        lines, self._lines = self._lines[:count], self._lines[count:]
        return lines

    def silent(self) -> None:
        """Raise ``Fault`` where a line comes although nothing is due."""
        until = time.monotonic() + MOMENT
        while not self._lines and not self._process.ended and time.monotonic() < until:
            self._listen(0.05)
        if self._lines:
            raise Fault(f"a line came when none was due: {shown(self._lines[0])}")

    def end(self, what: str) -> None:
        """Close the requests and wait for the exit; raise ``Fault`` where more comes, or it is not in order.

        What the program started beside itself is ended by whoever started the program.
        """
        if self._lines or self._listen(0.0):
            raise Fault(f"a line came when none was due: {shown(self._lines[0])}")
        ended = self._process.stop(self._limit)
        if ended:
            raise Fault(f"it {ended} after {what}; status 0 is right{self._last()}")

    def _listen(self, seconds: float) -> bool:
        """Write and read what goes within some seconds; return whether a line came."""
        with selectors.DefaultSelector() as selector:
            for descriptor, events in self._process.descriptors():
                selector.register(descriptor, events)
            selector.select(seconds)
        self._process.write()
        try:
            came = self._process.read()
        except OverflowError as error:
            raise Fault(str(error)) from None
        self._lines += came
        return bool(came)

    def _ended(self) -> str:
        deadline = time.monotonic() + self._limit
        while (status := self._process.exit_status()) is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if status is None:
            return "it closed its answers, and did not exit,"
        return f"it {ending(status)}{self._last()}"

    def _last(self) -> str:
        last = last_words(self.written)
        return f" ({last:.200})" if last else ""
