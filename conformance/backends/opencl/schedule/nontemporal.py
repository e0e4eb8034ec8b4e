"""How much streaming kernels store past the caches: what would push out of them what is needed again.

A store past the caches takes the memory's time alone, a plain one that of the caches, and of the memory too when what
it pushes out was written. Measured with 4 ranks of 4 MiB and 32 MiB of cache (PoCL on two quiet cores, medians of 50
interleaved rounds, times as parts of a copy of as many bytes; held: what ``cached`` says in MiB):

    held              0     16     20     24     28     all
    all_reduce     1.25   1.26   1.14   1.08   1.15    1.31
    all_to_all     1.29   1.31   1.18   1.17   1.14    1.19
    all_gather     1.20   0.53   0.60   0.60   0.55    0.57

Every block of every kernel stores the same part past the caches. Kernels that store all so beside kernels that store
nothing so took 1.25, 1.27 and 0.60 copies with 20 MiB held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.render.kernels import VECTOR_BYTES
from conformance.backends.opencl.schedule.item import Item, Kernel


def nontemporal_stores(items: Iterable[Item], sizes: Sequence[int], cached: int) -> list[Item]:
    """Return the items, their stores past the caches where storages of ``sizes`` need more than ``cached`` bytes.

    What is not stored by streaming kernels is held first; they share what is left of the caches, each the same part.
    """
    items = list(items)
    stored = sum(_stored(item) for item in items)
    missing = min(stored, sum(sizes) - cached)
    if missing <= 0:
        return items
    return [_stored_past_caches(item, missing / stored) if _stored(item) else item for item in items]


def _stored_past_caches(item: Item, part: float) -> Item:
    assert isinstance(item, Kernel)  # nothing else stores so
    assert item.body.stream is not None
    return msgspec.structs.replace(item, body=item.body._replace(stream=item.body.stream._replace(nontemporal=part)))


def _stored(item: Item) -> int:
    """Return the bytes that ``item`` might store past the caches: none unless every block begins where it may."""
    if not isinstance(item, Kernel) or item.body.stream is None:
        return 0
    width = FORMATS[item.targets[0].node.dtype].itemsize
    stores = [(work, view) for work in item.works for _, view in work.stores]
    begun = (each for work, view in stores for each in (work.first + view.offset, *view.strides[:-1]))
    return 0 if any(each * width % VECTOR_BYTES for each in begun) else sum(work.size * width for work, _ in stores)
