"""Cannot be imported."""

from __future__ import annotations

raise OSError("libacme.so: cannot open shared object file")
