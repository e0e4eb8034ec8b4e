"""Values that live on the devices: a block for each rank, a view of a storage."""

from __future__ import annotations

from typing import NamedTuple

from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.runtime.memory import Storage


class Form(NamedTuple):
    """What a block is but for its bytes: ``size`` elements of ``dtype`` in its storage, and the view of them."""

    dtype: str
    size: int
    view: View


Forms = tuple[Form | None, ...]
"""The form of a value, rank by rank; ``None`` where a rank has no block."""


class DeviceValue(NamedTuple):
    """A value on the devices; a block without elements has no storage.

    Several values may share storages: a view of a value is a value. Whoever drops the last gives the storage back.
    """

    forms: Forms
    storages: tuple[Storage | None, ...]
