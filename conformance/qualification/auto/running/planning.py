"""The native engine up to the kernels: what it plans of a case shows whether changed code is come to, and builds none.

To build the kernels of a case takes some 300 ms, and to plan it 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from conformance.backends.base import Backend


class NotBuilt(RuntimeError):
    """Kernels were asked for while none is built."""


@contextmanager
def unbuilt(backend: Backend) -> Iterator[None]:
    """Let the native engine raise ``NotBuilt`` where it would build the kernels of a case."""

    def build(_: object) -> NoReturn:
        raise NotBuilt("no kernel is built while a case is planned")

    kernels = backend.session.kernels  # type: ignore[attr-defined]  # no other has one, and no other is asked
    kernels.build = build
    try:
        yield
    finally:
        del kernels.build
