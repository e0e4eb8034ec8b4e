"""What a backend in a worker cannot import: the oracle, the specification, all that knows right answers.

In a run as in a certificate, so that nothing tells them apart. It keeps an honest adapter from leaning on the suite by
accident, and a dishonest one from doing so by an import; the files are still there to be read, from which only the
sandbox keeps a process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

SHOWN: Final = "CONFORMANCE_REFERENCE"
"""The environment variable that is ``shown`` where backends of tests are made from the reference."""

SEEN: Final = ("cases", "backends")
"""The rooms that a backend is written with."""


class Hidden(MetaPathFinder):
    """Refuses the modules of all rooms but those that a backend is written with, and the reference's own adapter."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return nothing, so that others find the module; raise ``ModuleNotFoundError`` for one that is hidden."""
        package, _, rest = fullname.partition(".")
        if package != "conformance" or not rest:
            return None
        room, _, below = rest.partition(".")
        if room in SEEN and not (room == "backends" and below.partition(".")[0] == "reference"):
            return None
        raise ModuleNotFoundError(
            f"{fullname} is hidden from the backend that is judged; it is written with conformance.backends.base and "
            "conformance.cases",
            name=fullname,
        )


@contextmanager
def nobody_shown() -> Iterator[None]:
    """Start workers as if ``SHOWN`` were not set: what is certified gets nothing that tests get."""
    before = os.environ.pop(SHOWN, None)
    try:
        yield
    finally:
        if before is not None:
            os.environ[SHOWN] = before


def hide(target: str | None) -> None:
    """Hide the rooms from a backend at ``target``, a ``module:Class``, unless it is one of this suite's own."""
    shown = os.environ.pop(SHOWN, "") == "shown"
    if not shown and target is not None and not target.startswith("conformance."):
        sys.meta_path.insert(0, Hidden())
