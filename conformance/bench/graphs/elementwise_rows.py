"""Rows of elementwise operations, movement, constants and buffers."""

from __future__ import annotations

from functools import reduce

from conformance.bench.graphs.rows import AskedTensors, many, row
from conformance.bench.graphs.tensors import GraphListing


@row(1, "a+b+c", 1, 1)
def _row_1(t: GraphListing) -> AskedTensors:
    a, b, c = many(t, 3, 10)
    return a + b + c


@row(2, "a+b+c+d", 1, 1)
def _row_2(t: GraphListing) -> AskedTensors:
    a, b, c, d = many(t, 4, 10)
    return a + b + c + d


@row(3, "(a+b).reshape(5,2)+c", 1, 1)
def _row_3(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 10)
    return (a + b).reshape(5, 2) + t.buffer(5, 2)


@row(4, "(a+b).T+c", 1, 1)
def _row_4(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 2, 5)
    return (a + b).permute(1, 0) + t.buffer(5, 2)


@row(5, "elu", 1, 1)
def _row_5(t: GraphListing) -> AskedTensors:
    return t.buffer(10).elu()


@row(6, "a*2", 1, 1)
def _row_6(t: GraphListing) -> AskedTensors:
    return t.buffer(10) * 2


@row(7, "(ab+c)+(ab+d)", 1, 1)
def _row_7(t: GraphListing) -> AskedTensors:
    a, b, c, d = many(t, 4, 10)
    ab = a * b
    return (ab + c) + (ab + d)


@row(8, "expand and permute of one binop", 2, 1)
def _row_8(t: GraphListing) -> AskedTensors:
    a, b = t.buffer(1, 1), t.buffer(1, 1)
    c = a + b
    return c.expand(4, 4) + c.permute(1, 0).expand(4, 4)


@row(9, "binop, then expand", 2, 1)
def _row_9(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 1, 16)
    return (a * b).expand(8192, 16) * t.buffer(8192, 16)


@row(10, "(a*b)[0]*d", 1, 1)
def _row_10(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 8192, 16)
    return (a * b).shrink((0, 1), (0, 16)) * t.buffer(1, 16)


@row(12, "bitcast fuses", 1, 1)
def _row_12(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 10)
    return a.bitcast("int32") + b.bitcast("int32")


@row(13, "a/b/c", 1, 1)
def _row_13(t: GraphListing) -> AskedTensors:
    a, b, c = many(t, 3, 10)
    return a / b / c


@row(14, "24 times a=a+a", 1, 1)
def _row_14(t: GraphListing) -> AskedTensors:
    return reduce(lambda a, _: a + a, range(24), t.buffer(4))


@row(60, "(a+b).pad.sum", 1, 1)
def _row_60(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 3, 4, 5)
    return (a + b).pad((0, 1), (0, 1), (0, 1)).sum()


@row(61, "log2.pad.sum", 2, 1)
def _row_61(t: GraphListing) -> AskedTensors:
    return t.buffer(3, 4, 5).alu("log2").pad((0, 1), (0, 1), (0, 1)).sum()


@row(62, "shrink, pad, safe", 1, 1)
def _row_62(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 3)
    return (a + b).shrink((0, 1)).pad((0, 1))


@row(63, "shrink, pad of exp2", 2, 1)
def _row_63(t: GraphListing) -> AskedTensors:
    return t.buffer(3).alu("exp2").shrink((0, 1)).pad((0, 1))


@row(64, "expand, then pad", 2, 1)
def _row_64(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 1, 3)
    return ((a + b).expand(4, 3)).pad((0, 1), (0, 1)) + t.buffer(5, 4)


@row(65, "pad, then expand", 2, 1)
def _row_65(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 1, 3)
    return (a + b).pad((0, 0), (0, 1)).expand(4, 4) + t.buffer(4, 4)


@row(71, "[a+b, a+b]", 1, 1)
def _row_71(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 4)
    return a + b, a + b


@row(75, "constants alone", 0, 0)
def _row_75(t: GraphListing) -> AskedTensors:
    return t.full((), 2.0) * 4


@row(76, "no elements", 0, 0)
def _row_76(t: GraphListing) -> AskedTensors:
    return t.buffer(2, 3, 0) + 1


@row(77, "no elements, padded", 0, 0)
def _row_77(t: GraphListing) -> AskedTensors:
    return t.buffer(2, 3, 0).pad((0, 0), (0, 0), (0, 3)).reshape(18)


@row(78, "a view: expand of a buffer", 0, 0)
def _row_78(t: GraphListing) -> AskedTensors:
    return t.buffer(1, 4).expand(4, 4)


@row(79, "contiguous of contiguous", 0, 0)
def _row_79(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 4).contiguous()


@row(80, "contiguous of a reshape", 0, 0)
def _row_80(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 4).reshape(2, 8).contiguous()


@row(81, "contiguous of a permute", 1, 1)
def _row_81(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 4).permute(1, 0).contiguous()


@row(82, "contiguous of an expand", 1, 1)
def _row_82(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 1).expand(4, 4).contiguous()


@row(83, "contiguous twice of an expand", 1, 1)
def _row_83(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 1).expand(4, 4).contiguous().contiguous()


@row(84, "contiguous of a shrink", None, 0)
def _row_84(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 4).shrink((0, 2), (0, 4)).contiguous()


@row(85, "a view of what is there", None, 0)
def _row_85(t: GraphListing) -> AskedTensors:
    return t.buffer(4, 4).permute(1, 0)


@row(86, "what is there already", 0, 0)
def _row_86(t: GraphListing) -> AskedTensors:
    return t.buffer(4), t.buffer(4)


@row(87, "a*0 of integers", 0, 1)
def _row_87(t: GraphListing) -> AskedTensors:
    return t.buffer(4, dtype="int32") * 0


@row(88, "a+0 of integers", 0, 1)
def _row_88(t: GraphListing) -> AskedTensors:
    return t.buffer(4, dtype="int32") + 0


@row(90, "(x+y).contiguous()+z", 2, 2)
def _row_90(t: GraphListing) -> AskedTensors:
    x, y, z = many(t, 3, 32)
    return (x + y).contiguous() + z


@row(91, "fold with contiguous", 2, 2)
def _row_91(t: GraphListing) -> AskedTensors:
    a, b = t.buffer(16, 16, 16), t.buffer(16, 16)
    return (a.sum(2).contiguous() + b).contiguous()


@row(92, "permute through reshape, contiguous", 1, 1)
def _row_92(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 16, 16)
    return (a + b).reshape(4, 4, 4, 4).permute(2, 3, 0, 1).contiguous()


@row(101, "(arange+b).sum", 1, 1)
def _row_101(t: GraphListing) -> AskedTensors:
    return (t.arange(16) + t.buffer(16, dtype="int32")).sum()


@row(102, "X[idx]", 2, 1)
def _row_102(t: GraphListing) -> AskedTensors:
    return t.buffer(16, 8).gather(0, t.buffer(4, dtype="int32"))


@row(103, "(x+arange(10)[2]).sum", 2, 1)
def _row_103(t: GraphListing) -> AskedTensors:
    third = t.arange(10).shrink((2, 3))
    return (t.buffer(5, dtype="int32") + third).sum()


@row(104, "(x+arange(10).contiguous()[2]).sum", 3, 2)
def _row_104(t: GraphListing) -> AskedTensors:
    third = t.arange(10).contiguous().shrink((2, 3))
    return (t.buffer(5, dtype="int32") + third).sum()


@row(115, "assign a=a+1", 1, 1)
def _row_115(t: GraphListing) -> AskedTensors:
    a = t.buffer(10)
    return a.assign(a + 1)


@row(116, "assign a=a", 0, 0)
def _row_116(t: GraphListing) -> AskedTensors:
    a = t.buffer(10)
    return a.assign(a)


@row(117, "assign a=a.T+1", 2, 2)
def _row_117(t: GraphListing) -> AskedTensors:
    a = t.buffer(4, 4)
    return a.assign(a.permute(1, 0) + 1)


@row(118, "assign a=a.flip+1", 2, 2)
def _row_118(t: GraphListing) -> AskedTensors:
    a = t.buffer(4, 4)
    return a.assign(a.flip(0) + 1)


@row(119, "assign a=a.contiguous().T.contiguous()", 2, None)
def _row_119(t: GraphListing) -> AskedTensors:
    a = t.buffer(4, 4)
    return a.assign(a.contiguous().permute(1, 0).contiguous())


@row(122, "one assign twice", 1, 2)
def _row_122(t: GraphListing) -> AskedTensors:
    a, b = many(t, 2, 4)
    value = b + 1
    return a.assign(value), a.assign(value)


@row(123, "assigns in a chain", None, 2)
def _row_123(t: GraphListing) -> AskedTensors:
    a = t.buffer(4)
    return a.assign(a + 1).assign(a * 2)
