"""Mistakes in ragged_all_to_all."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations.ragged_all_to_all import ragged_all_to_all

Tables = list[Array]


class RaggedWritesWhereTheReceiverSays(Reference):
    """Output offsets are read on the receiver, though it is the sender's that count."""

    breaks = "ragged_all_to_all.C1"

    def ragged_all_to_all(
        self, x: Tables, y: Tables, starts: Tables, sizes: Tables, ats: Tables, *rest: Any, groups: Groups
    ) -> Tables:
        ragged_all_to_all(x, y, starts, sizes, ats, *rest, groups=groups)
        theirs = [np.zeros_like(at) for at in ats]
        for group in groups:
            each = len(ats[0]) // len(group)
            for q, sender in enumerate(group):
                for p, receiver in enumerate(group):
                    theirs[sender][p * each : (p + 1) * each] = ats[receiver][q * each : (q + 1) * each]
        room = [np.clip(at, 0, len(y[0]) - size) for at, size in zip(theirs, sizes, strict=True)]
        return ragged_all_to_all(x, y, starts, sizes, room, *rest, groups=groups)


class RaggedClearsTheOutput(Reference):
    """The output is taken for a shape alone and starts as zeros."""

    breaks = "ragged_all_to_all.C2"

    def ragged_all_to_all(self, x: Tables, y: Tables, *tables: Tables, groups: Groups) -> Tables:
        return ragged_all_to_all(x, [np.zeros_like(block) for block in y], *tables, groups=groups)


class RaggedSendsOneSliceEach(Reference):
    """There is one slice for every peer, and those that come after it are not sent."""

    breaks = "ragged_all_to_all.C3"

    def ragged_all_to_all(
        self, x: Tables, y: Tables, starts: Tables, sizes: Tables, ats: Tables, receives: Tables, *, groups: Groups
    ) -> Tables:
        ragged_all_to_all(x, y, starts, sizes, ats, receives, groups=groups)
        first = np.arange(len(sizes[0])) % (len(sizes[0]) // len(groups[0])) == 0
        sent, expected = ([np.where(first, size, 0) for size in table] for table in (sizes, receives))
        return ragged_all_to_all(x, y, starts, sent, ats, expected, groups=groups)


class RaggedWritesBackwards(Reference):
    """Peers are served from the last to the first, so that where they overlap the first one stays."""

    breaks = "ragged_all_to_all.C4"

    def ragged_all_to_all(self, x: Tables, y: Tables, *tables: Tables, groups: Groups) -> Tables:
        out = ragged_all_to_all(x, y, *tables, groups=groups)
        starts, sizes, ats, _ = tables
        for group in groups:
            for i in reversed(range(len(sizes[0]))):
                for sender in reversed(group):
                    at, start, count = int(ats[sender][i]), int(starts[sender][i]), int(sizes[sender][i])
                    out[group[i * len(group) // len(sizes[0])]][at : at + count] = x[sender][start : start + count]
        return out


class RaggedSendsARowAtLeast(Reference):
    """A loop tests at its end, so that a slice of no rows sends one."""

    breaks = "ragged_all_to_all.C5"

    def ragged_all_to_all(
        self, x: Tables, y: Tables, starts: Tables, sizes: Tables, ats: Tables, receives: Tables, *, groups: Groups
    ) -> Tables:
        ragged_all_to_all(x, y, starts, sizes, ats, receives, groups=groups)
        sent, expected = ([np.maximum(size, 1) for size in table] for table in (sizes, receives))
        begin = [np.minimum(start, len(x[0]) - 1) for start in starts]
        room = [np.minimum(at, len(y[0]) - 1) for at in ats]
        return ragged_all_to_all(x, y, begin, sent, room, expected, groups=groups)


class RaggedRoundsFloats(Reference):
    """Offsets and sizes are cast to integers as they arrive, whatever they were."""

    breaks = "ragged_all_to_all.C6"

    def ragged_all_to_all(self, x: Tables, y: Tables, *tables: Tables, groups: Groups) -> Tables:
        whole = [[part.astype(np.int32) for part in table] for table in tables]
        return ragged_all_to_all(x, y, *whole, groups=groups)


class RaggedFlattensTables(Reference):
    """Tables are read as flat memory, whatever their axes."""

    breaks = "ragged_all_to_all.C7"

    def ragged_all_to_all(self, x: Tables, y: Tables, *tables: Tables, groups: Groups) -> Tables:
        flat = [[part.reshape(-1) for part in table] for table in tables]
        return ragged_all_to_all(x, y, *flat, groups=groups)


class RaggedCutsTables(Reference):
    """As many slices are exchanged as the shortest table has; the rest of the others is not read."""

    breaks = "ragged_all_to_all.C8"

    def ragged_all_to_all(self, x: Tables, y: Tables, *tables: Tables, groups: Groups) -> Tables:
        least = min(len(table[0]) for table in tables)
        cut = [[part[:least] for part in table] for table in tables]
        return ragged_all_to_all(x, y, *cut, groups=groups)


class RaggedReshapesRows(Reference):
    """Rows are so many bytes, and that operand and output see them in different shapes is not noticed."""

    breaks = "ragged_all_to_all.C9"

    def ragged_all_to_all(self, x: Tables, y: Tables, *tables: Tables, groups: Groups) -> Tables:
        same = y[0][:1].size == x[0][:1].size
        rows = [block.reshape(len(block), *x[0].shape[1:]) if same else block for block in y]
        out = ragged_all_to_all(x, rows, *tables, groups=groups)
        return [block.reshape(whole.shape) for block, whole in zip(out, y, strict=True)]


class RaggedBelievesTheSender(Reference):
    """Sizes travel with the data, and those that the receiver expected are never looked at."""

    breaks = "ragged_all_to_all.C10"

    def ragged_all_to_all(
        self, x: Tables, y: Tables, starts: Tables, sizes: Tables, ats: Tables, receives: Tables, *, groups: Groups
    ) -> Tables:
        true = [size.copy() for size in receives]
        for group in groups if {size.shape for size in (*sizes, *true)} == {sizes[0].shape} else ():
            each = len(sizes[0]) // len(group)
            for q, sender in enumerate(group):
                for p, receiver in enumerate(group):
                    true[receiver][q * each : (q + 1) * each] = sizes[sender][p * each : (p + 1) * each]
        return ragged_all_to_all(x, y, starts, sizes, ats, true, groups=groups)


class RaggedClampsOffsets(Reference):
    """An offset beyond the end is moved back until the slice fits, as XLA's dynamic slices do."""

    breaks = "ragged_all_to_all.C11"

    def ragged_all_to_all(
        self, x: Tables, y: Tables, starts: Tables, sizes: Tables, ats: Tables, receives: Tables, *, groups: Groups
    ) -> Tables:
        if all(
            part.dtype.kind == "i" and part.shape == sizes[0].shape for table in (starts, sizes, ats) for part in table
        ):
            starts = [np.clip(start, 0, len(x[0]) - size) for start, size in zip(starts, sizes, strict=True)]
            ats = [np.clip(at, 0, len(y[0]) - size) for at, size in zip(ats, sizes, strict=True)]
        return ragged_all_to_all(x, y, starts, sizes, ats, receives, groups=groups)
