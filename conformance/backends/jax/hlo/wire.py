"""The wire format of protocol buffers, as far as XLA's messages need it: jaxlib has the messages and no classes."""

from __future__ import annotations

from collections.abc import Iterator

FieldValue = int | bytes


class Message:
    """The fields of one encoded message by their numbers, each with its values in order."""

    def __init__(self, encoded: bytes) -> None:
        """Split a message into fields; raise ``ValueError`` or ``IndexError`` for what is none."""
        self._fields: dict[int, list[FieldValue]] = {}
        for number, value in _fields(encoded):
            self._fields.setdefault(number, []).append(value)

    def has(self, number: int) -> bool:
        """Return whether a field was written down; a number that is 0 is not."""
        return number in self._fields

    def number(self, field: int) -> int:
        """Return an integer, 0 where it was not written down; of several the last."""
        value = self._fields.get(field, [0])[-1]
        return _signed(value) if isinstance(value, int) else 0

    def numbers(self, field: int) -> tuple[int, ...]:
        """Return repeated integers, packed or not."""
        found: list[int] = []
        for value in self._fields.get(field, []):
            found += [value] if isinstance(value, int) else _packed(value)
        return tuple(map(_signed, found))

    def content(self, field: int) -> bytes:
        """Return the bytes of a field, or of all its parts one after the other."""
        return b"".join(value for value in self._fields.get(field, []) if isinstance(value, bytes))

    def text(self, field: int) -> str:
        """Return a string."""
        return self.content(field).decode()

    def message(self, field: int) -> Message:
        """Return a message, without fields where it was not written down."""
        return Message(self.content(field))

    def messages(self, field: int) -> list[Message]:
        """Return repeated messages."""
        return [Message(value) for value in self._fields.get(field, []) if isinstance(value, bytes)]


def _fields(encoded: bytes) -> Iterator[tuple[int, FieldValue]]:
    at = 0
    while at < len(encoded):
        key, at = _varint(encoded, at)
        number, kind = key >> 3, key & 7
        value: FieldValue
        if kind == 0:
            value, at = _varint(encoded, at)
        else:
            length, at = (8, at) if kind == 1 else (4, at) if kind == 5 else _varint(encoded, at)
            value, at = encoded[at : at + length], at + length
        yield number, value


def _packed(encoded: bytes) -> list[int]:
    found, at = [], 0
    while at < len(encoded):
        value, at = _varint(encoded, at)
        found.append(value)
    return found


def _varint(encoded: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = encoded[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
