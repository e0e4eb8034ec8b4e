"""What a run is able to see, as its log says it."""

from __future__ import annotations

from conformance.vectors.power import Power, Share

__all__ = ["Power", "Share"]
