"""What is wrong with a folder of vectors."""

from __future__ import annotations


class VectorsError(ValueError):
    """A folder that is none of vectors, or no case where some are asked for, in one line."""
