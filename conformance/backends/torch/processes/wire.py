"""Messages between a worker and its rank processes: length-prefixed MessagePack on a socket pair, never code."""

from __future__ import annotations

import socket
import struct
from typing import Final

import msgspec

from conformance.cases.case import Case
from conformance.cases.observation import Observation

LENGTH: Final = struct.Struct("<Q")
CHUNK: Final = 1 << 18


class Answer(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """From a rank: ``None`` once, when its process group is up, then one observation a case, of this rank alone."""

    observation: Observation | None = None


encode_cases: Final = msgspec.msgpack.Encoder().encode
decode_cases: Final = msgspec.msgpack.Decoder(list[Case]).decode
encode_answer: Final = msgspec.msgpack.Encoder().encode
decode_answer: Final = msgspec.msgpack.Decoder(Answer).decode


def send(channel: socket.socket, payload: bytes) -> None:
    """Send one message; raise ``OSError`` when the other side is gone."""
    channel.sendall(LENGTH.pack(len(payload)) + payload)


class Inbox:
    """The messages that have arrived on a channel, put together from what each read returns."""

    def __init__(self, channel: socket.socket) -> None:
        """Read from ``channel``, and only here."""
        self._channel = channel
        self._bytes = bytearray()

    def read(self) -> list[bytes] | None:
        """Wait for bytes and return the messages they complete, or ``None`` at the end of the channel."""
        try:
            chunk = self._channel.recv(CHUNK)
        except ConnectionError:
            return None
        if not chunk:
            return None
        self._bytes += chunk
        return list(self._complete())

    def _complete(self) -> list[bytes]:
        found, at = [], 0
        while len(self._bytes) >= at + LENGTH.size:
            (size,) = LENGTH.unpack_from(self._bytes, at)
            if len(self._bytes) < at + LENGTH.size + size:
                break
            found.append(bytes(self._bytes[at + LENGTH.size : at + LENGTH.size + size]))
            at += LENGTH.size + size
        del self._bytes[:at]
        return found
