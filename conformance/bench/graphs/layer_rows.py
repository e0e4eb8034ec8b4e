"""Rows of layers, which are made of reductions."""

from __future__ import annotations

from conformance.bench.graphs.rows import AskedTensors, many, row
from conformance.bench.graphs.tensors import GraphListing, Lazy


@row(93, "conv, relu", 1, 1)
def _row_93(t: GraphListing) -> AskedTensors:
    return t.buffer(1, 3, 8, 8).conv(t.buffer(4, 3, 3, 3)).relu()


@row(94, "conv, relu, conv, relu", 2, 2)
def _row_94(t: GraphListing) -> AskedTensors:
    made = t.buffer(1, 3, 8, 8).conv(t.buffer(4, 3, 3, 3)).relu()
    return made.conv(t.buffer(4, 4, 3, 3)).relu()


@row(95, "conv, elu, conv, elu", 2, 2)
def _row_95(t: GraphListing) -> AskedTensors:
    made = t.buffer(1, 3, 8, 8).conv(t.buffer(4, 3, 3, 3)).elu()
    return made.conv(t.buffer(4, 4, 3, 3)).elu()


@row(96, "conv, conv", 2, 2)
def _row_96(t: GraphListing) -> AskedTensors:
    return t.buffer(1, 3, 8, 8).conv(t.buffer(4, 3, 3, 3)).conv(t.buffer(4, 4, 3, 3))


def _normed(t: GraphListing, x: Lazy, mean: Lazy, variance: Lazy) -> Lazy:
    scale, shift = (each.reshape(1, -1, 1, 1) for each in many(t, 2, x.shape[1]))
    return (x - mean) * scale * (variance + 1e-5).alu("sqrt").alu("recip") + shift


@row(97, "conv, norm of known mean, relu", 1, 1)
def _row_97(t: GraphListing) -> AskedTensors:
    made = t.buffer(2, 3, 8, 8).conv(t.buffer(4, 3, 3, 3))
    mean, variance = (each.reshape(1, 4, 1, 1) for each in many(t, 2, 4))
    return _normed(t, made, mean, variance).relu()


@row(98, "conv, norm, relu", 4, 4)
def _row_98(t: GraphListing) -> AskedTensors:
    made = t.buffer(2, 3, 8, 8).conv(t.buffer(4, 3, 3, 3))
    mean = made.mean((0, 2, 3), keep=True)
    away = made - mean
    return _normed(t, made, mean, (away * away).mean((0, 2, 3), keep=True)).relu()


@row(99, "norm of a batch", 3, 3)
def _row_99(t: GraphListing) -> AskedTensors:
    x = t.buffer(2, 4, 6, 6)
    mean = x.mean((0, 2, 3), keep=True)
    away = x - mean
    return _normed(t, x, mean, (away * away).mean((0, 2, 3), keep=True))


@row(100, "residual block", 2, 2)
def _row_100(t: GraphListing) -> AskedTensors:
    x = t.buffer(1, 4, 8, 8)
    border = ((0, 0), (0, 0), (1, 1), (1, 1))
    made = x.pad(*border).conv(t.buffer(4, 4, 3, 3)).relu()
    return (made.pad(*border).conv(t.buffer(4, 4, 3, 3)) + x).relu()


@row(105, "cross entropy by class", 4, 3)
def _row_105(t: GraphListing) -> AskedTensors:
    x, classes = t.buffer(8, 10), t.buffer(8, dtype="int32")
    most = x.max(-1, keep=True)
    logs = (x - most) - (x - most).exp().sum(-1, keep=True).alu("log2")
    hit = t.arange(10).reshape(1, 10).expand(8, 10).alu("eq", classes.reshape(8, 1))
    return -(hit.cast("float32") * logs).sum() * 0.125


@row(109, "sum of 32768, not split", None, 1)
def _row_109(t: GraphListing) -> AskedTensors:
    return t.buffer(32768).sum()


@row(110, "sum of 32767", None, 1)
def _row_110(t: GraphListing) -> AskedTensors:
    return t.buffer(32767).sum()


@row(112, "sum of a prime, 32771", None, 1)
def _row_112(t: GraphListing) -> AskedTensors:
    return t.buffer(32771).sum()


@row(113, "(x-x.max).max of 32768", 4, 3)
def _row_113(t: GraphListing) -> AskedTensors:
    x = t.buffer(32768)
    return (x - x.max(0, keep=True)).max()


@row(114, "sum of an expand, 32768", None, 1)
def _row_114(t: GraphListing) -> AskedTensors:
    return t.buffer(1).expand(32768).sum()
