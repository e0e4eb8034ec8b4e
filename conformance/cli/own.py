"""Whether a command has its process to itself."""

from __future__ import annotations

from typing import Final

OWN_PROCESS: Final = object()
"""What the context of a command carries that was started as a process, and may change it."""
