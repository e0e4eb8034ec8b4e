"""What an attribute of a step, or of a node of a graph, may be."""

from __future__ import annotations

Attr = int | float | bool | str | None | tuple[int | tuple[int, ...], ...]
