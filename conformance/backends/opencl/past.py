"""Which streaming kernels store past the caches: those that would push out of them what is needed again.

A store past the caches takes the memory's time alone, a plain one that of the caches, and of the memory too when what
it pushes out was written. Measured with 4 ranks of 4 MiB and 32 MiB of cache (PoCL on two cores, times as parts of a
copy of as many bytes; held: what ``cached`` says in MiB):

    held              0     16     20     24     all
    all_reduce     1.09   1.03   1.02   1.08    1.32
    all_to_all     1.16   1.00   1.05   1.13    1.15
    all_gather     1.09   0.79   0.64   0.61    0.86

A kernel stores all past the caches or nothing: the choice is an argument of one kernel. The table was measured with a
choice for each store, and a kernel for each number of them. On a loaded machine that took as long (1.00, 0.99 and 1.02
times, 10 rounds); on a quiet one all_reduce took 1.08, 1.16 and 1.07 copies so, and takes 1.23, 1.26 and 1.09.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.item import Item, Kernel
from conformance.backends.opencl.render import PAST_BYTES


def past_caches(items: Iterable[Item], sizes: Sequence[int], cached: int) -> list[Item]:
    """Return the items, those that store past the caches where storages of ``sizes`` need more than ``cached`` bytes.

    What is not stored by streaming kernels is held first; of those, as many store plainly as what is left has room for.
    """
    items = list(items)
    stored = sum(_stored(item) for item in items)
    room = cached - (sum(sizes) - stored)
    found: list[Item] = []
    plain = 0.0
    for item in items:
        if not _stored(item):
            found.append(item)
            continue
        assert isinstance(item, Kernel)  # nothing else stores so
        assert item.body.stream is not None
        stores = item.body.stream.stores
        plain += stores * min(1.0, max(0.0, room / stored))
        # Parts of a whole add up to a little less.
        past = plain < stores - 1e-6
        plain -= 0 if past else stores
        stream = item.body.stream._replace(past=past)
        found.append(msgspec.structs.replace(item, body=item.body._replace(stream=stream)))
    return found


def _stored(item: Item) -> int:
    """Return the bytes that ``item`` might store past the caches: none unless every block begins where it may."""
    if not isinstance(item, Kernel) or item.body.stream is None:
        return 0
    width = FORMATS[item.targets[0].node.dtype].itemsize
    stores = [(work.size * width, (work.first + view.offset) * width) for work in item.works for _, view in work.stores]
    return 0 if any(at % PAST_BYTES for _, at in stores) else sum(size for size, _ in stores)
