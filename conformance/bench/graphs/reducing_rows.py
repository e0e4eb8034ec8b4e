"""Rows of reductions."""

from __future__ import annotations

from functools import reduce

from conformance.bench.graphs.rows import AskedTensors, many, row
from conformance.bench.graphs.tensors import GraphListing, Lazy


@row(11, "permute twice behind a reduction", 1, 1)
def _row_11(t: GraphListing) -> AskedTensors:
    a, b = t.buffer(2, 5, 3), t.buffer(2, 5)
    return (a.sum(2).permute(1, 0) + b.permute(1, 0)).permute(1, 0)


@row(15, "reduction, then 24 times reshape+b", 1, 1)
def _row_15(t: GraphListing) -> AskedTensors:
    b = t.buffer(16)

    def step(made: Lazy, number: int) -> Lazy:
        return made.reshape(4, 4) + b.reshape(4, 4) if number % 2 else made.reshape(16) + b

    return reduce(step, range(24), t.buffer(16, 16).sum(1))


@row(16, "(a*b).sum", 1, 1)
def _row_16(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 10)
    return (a * b).sum()


@row(17, "(a*b).sum.relu", 1, 1)
def _row_17(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 10)
    return (a * b).sum().relu()


@row(18, "binop, reshape, reduction", 1, 1)
def _row_18(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 100)
    return (a + b).reshape(10, 10).sum(0)


@row(19, "a.sum(0)+b", 1, 1)
def _row_19(t: GraphListing) -> AskedTensors:
    return t.buffer(10, 10).sum(0) + t.buffer(10)


@row(20, "reduction, permute, binop", 1, 1)
def _row_20(t: GraphListing) -> AskedTensors:
    return t.buffer(10, 10, 10).sum(0, keep=True).permute(2, 1, 0) + t.buffer(10, 10, 1)


@row(21, "binop, reshape, reduction, early", 1, 1)
def _row_21(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 100)
    return ((a + b).reshape(10, 10) + t.buffer(10, 10)).sum(0)


@row(22, "sum.sqrt.neg", 1, 1)
def _row_22(t: GraphListing) -> AskedTensors:
    return -t.buffer(10, 10).sum().alu("sqrt")


@row(23, "img.sum(0)+img.sum(1)", 2, 1)
def _row_23(t: GraphListing) -> AskedTensors:
    a = t.buffer(64, 64)
    return a.sum(0) + a.sum(1)


@row(24, "reduction.T+y", 2, 1)
def _row_24(t: GraphListing) -> AskedTensors:
    return t.buffer(10, 10, 10).sum(2).permute(1, 0) + t.buffer(10, 10)


@row(25, "sum of two elus", 2, 1)
def _row_25(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 10, 10)
    return a.sum(0).elu() + b.sum(0).elu()


@row(26, "sum(2).relu.sum(1)", 2, 1)
def _row_26(t: GraphListing) -> AskedTensors:
    return t.buffer(8, 8, 8).sum(2).relu().sum(1)


@row(27, "sum(2).relu, and its sum(1)", 2, 2)
def _row_27(t: GraphListing) -> AskedTensors:
    made = t.buffer(8, 8, 8).sum(2).relu()
    return made.sum(1) + made.shrink((0, 8), (0, 1)).reshape(8)


@row(28, "x+x[:, 4] of a reduction", 2, 2)
def _row_28(t: GraphListing) -> AskedTensors:
    x = t.buffer(8, 8, 8).sum(2)
    return x + x.shrink((0, 8), (4, 5))


@row(29, "sum(1)[:16]+y", 2, 1)
def _row_29(t: GraphListing) -> AskedTensors:
    return t.buffer(32, 32).sum(1).shrink((0, 16)) + t.buffer(16)


@row(30, "parts of three reductions", 3, 1)
def _row_30(t: GraphListing) -> AskedTensors:
    a, b, c = t.buffer(32, 32), t.buffer(32, 32), t.buffer(16)
    return a.sum(1).shrink((0, 16)) + b.sum(1).shrink((0, 16)) + c


@row(31, "a reduction and two results of its size", 1, 3)
def _row_31(t: GraphListing) -> AskedTensors:
    r = t.buffer(4, 4).sum()
    return r, r + 2, r + 4


@row(32, "a reduction on several paths, two results", 1, 2)
def _row_32(t: GraphListing) -> AskedTensors:
    r = t.buffer(4, 4).sum()
    made = r + 2
    return made, r + made


@row(33, "reductions with an outer user, two results", 4, 2)
def _row_33(t: GraphListing) -> AskedTensors:
    r = t.buffer(4, 4).sum()
    first = r + 2
    return first, t.buffer(4, 4).sum() + first


@row(34, "reduction in the middle, four results", 4, 4)
def _row_34(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 4, 4)
    first = a.sum()
    second = (b + first).sum()
    return first, first + 2, second, second + 2


@row(35, "a.sum(1, keep)+b", 1, 1)
def _row_35(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 4).sum(1, keep=True) + t.buffer(4, 1)


@row(36, "reduction, permute, then binop", 2, 1)
def _row_36(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 4, 4).sum(1, keep=True).permute(2, 1, 0) + t.buffer(4, 1, 4)


@row(37, "a-a.sum(1)", 2, 2)
def _row_37(t: GraphListing) -> AskedTensors:
    a = t.buffer(4, 4)
    return a - a.sum(1, keep=True)


@row(38, "a-a.mean(0)", 2, 2)
def _row_38(t: GraphListing) -> AskedTensors:
    a = t.buffer(32, 32)
    return a - a.mean(0)


@row(39, "(a+a.sum(-1)).sum(-1)", 2, 2)
def _row_39(t: GraphListing) -> AskedTensors:
    a = t.buffer(4, 8)
    return (a + a.sum(-1, keep=True)).sum(-1)


@row(40, "a+(a+a.sum(-1)).sum(-1)", 3, 3)
def _row_40(t: GraphListing) -> AskedTensors:
    a = t.buffer(4, 8)
    return a + (a + a.sum(-1, keep=True)).sum(-1, keep=True)


@row(41, "std(-1)", 2, 2)
def _row_41(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 8).std(-1)


@row(42, "std+std", 4, 3)
def _row_42(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 8).std(-1) + t.buffer(4, 8).std(-1)


@row(43, "y.sum+x.sum", 2, 1)
def _row_43(t: GraphListing) -> AskedTensors:
    x, y = many(t, 2, 4, 32)
    return y.sum(-1) + x.sum(-1)


@row(44, "x.sum+y.max", 2, 1)
def _row_44(t: GraphListing) -> AskedTensors:
    x, y = many(t, 2, 4, 32)
    return x.sum(-1) + y.max(-1)


@row(45, "(x-x.max).sum", 2, 2)
def _row_45(t: GraphListing) -> AskedTensors:
    x = t.buffer(4, 32)
    return (x - x.max(-1, keep=True)).sum(-1)


@row(46, "a@b+c@d", 2, 1)
def _row_46(t: GraphListing) -> AskedTensors:
    a, b, c, d = many(t, 4, 4, 4)
    return a @ b + c @ d


@row(47, "reductions paired uglily", 3, 2)
def _row_47(t: GraphListing) -> AskedTensors:
    a, b, c = many(t, 3, 2, 2)
    return (c * a.sum(-1, keep=True)).sum(-1) + (b * a.sum(-1, keep=True)).sum(-1)


@row(48, "two reductions, chased, two results", 3, 3)
def _row_48(t: GraphListing) -> AskedTensors:
    a = t.buffer(4, 4, 4)
    r = a.sum(2) + 6
    return r.sum(0) * 4, r.sum(1) * 2


@row(49, "permute pushed, two results", 3, 3)
def _row_49(t: GraphListing) -> AskedTensors:
    a, b = t.buffer(4, 4, 4), t.buffer(4, 4)
    r = a.sum(2) + b
    turned = r.permute(1, 0) * 4
    return turned, r * turned


@row(50, "(sum+c)[:4]*b", 2, 1)
def _row_50(t: GraphListing) -> AskedTensors:
    a, b, c = t.buffer(16, 16), t.buffer(4), t.buffer(16)
    return (a.sum(1) + c).shrink((0, 4)) * b


@row(51, "reduction in the middle, not chased", 2, 1)
def _row_51(t: GraphListing) -> AskedTensors:
    a, b = t.buffer(16, 16), t.buffer(16)
    return (b.sum() + 2) * 2 + a.sum(1).shrink((0, 1))


@row(52, "partly fused", 3, 2)
def _row_52(t: GraphListing) -> AskedTensors:
    a, b = t.buffer(16, 16), t.buffer(16, 16)
    c = a.sum() + 2
    d = (a.sum() - b.sum()) * 4
    return c, d


@row(54, "argmax(1)", 2, 2)
def _row_54(t: GraphListing) -> AskedTensors:
    x = t.buffer(10, 20)
    most = x.alu("eq", x.max(1, keep=True)).cast("int32")
    return (most * (-t.arange(20) + 20)).max(1) * -1 + 20


@row(55, "softmax", 3, 3)
def _row_55(t: GraphListing) -> AskedTensors:
    return t.buffer(10, 20).softmax()


@row(56, "logsumexp", None, 2)
def _row_56(t: GraphListing) -> AskedTensors:
    x = t.buffer(10, 20)
    most = x.max(-1, keep=True)
    return (x - most).exp().sum(-1).alu("log2") + most.reshape(10)


@row(57, "layernorm", 3, 3)
def _row_57(t: GraphListing) -> AskedTensors:
    return t.buffer(10, 20).layernorm()


@row(58, "attention", 5, 4)
def _row_58(t: GraphListing) -> AskedTensors:
    q, k, v = many(t, 3, 8, 4)
    return (q @ k.permute(1, 0) * 0.5).softmax() @ v


@row(59, "attention, causal", 6, 4)
def _row_59(t: GraphListing) -> AskedTensors:
    q, k, v = many(t, 3, 8, 4)
    at = t.arange(8)
    seen = at.reshape(1, 8).expand(8, 8).alu("lt", at.reshape(8, 1) + 1)
    scores = q @ k.permute(1, 0) * 0.5
    return seen.where(scores, t.full((8, 8), float("-inf"))).softmax() @ v


@row(70, "a.sum()+a.sum()", 1, 1)
def _row_70(t: GraphListing) -> AskedTensors:
    a = t.buffer(10, 10)
    return a.sum() + a.sum()


@row(72, "two reshapes of one reduction", 1, 1)
def _row_72(t: GraphListing) -> AskedTensors:
    r = t.buffer(4, 2, 8).sum(2)
    return r.reshape(8), r.reshape(2, 4)


@row(73, "a reduction shared by its parent", 2, 2)
def _row_73(t: GraphListing) -> AskedTensors:
    x = t.buffer(32)
    mean = x.mean()
    return (x - mean).sum() + mean


@row(74, "a reduction shared by several users", 4, 3)
def _row_74(t: GraphListing) -> AskedTensors:
    x, y = many(t, 2, 4, 4)
    mean = x.mean()
    return (x - mean).sum() + (y * mean).sum(), mean + 1
