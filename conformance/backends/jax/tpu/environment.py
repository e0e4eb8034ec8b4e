"""What keeps XLA's compiler for TPUs from starting, said before anything of it is imported."""

from __future__ import annotations

from conformance.backends.jax.tpu.topology import check


def problem() -> str | None:
    """Return why no topology can be compiled for, or ``None``."""
    try:
        check()
    except ImportError as error:
        return str(error)
    return None
