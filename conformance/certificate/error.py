"""What is wrong with what a person gave: a key, a product, a bundle; one line, and the exit status."""

from __future__ import annotations


class CertificateError(ValueError):
    """What is wrong, where, and what would be right, in one line; ``status`` is 2, or 3 for what was not checked."""

    def __init__(self, message: str, status: int = 2) -> None:
        """Say ``message``."""
        super().__init__(message)
        self.status = status
