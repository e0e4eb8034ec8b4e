"""Files of the runner alone, for what would fill its memory: they lie in no folder.

Who is judged cannot open one: the descriptors of this process are closed to others (``runner/worker/own_process.py``).
"""

from __future__ import annotations

import tempfile
import weakref
from typing import IO


def nameless_file(owner: object) -> IO[bytes]:
    """Return a file without a name or a buffer, closed once nobody has its ``owner``; raise ``OSError`` for no room."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives as long as its owner
    weakref.finalize(owner, file.close)
    return file
