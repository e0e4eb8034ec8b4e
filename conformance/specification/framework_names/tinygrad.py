"""Names of tinygrad 0.14.0: tensors, their movement and arithmetic, sharding, assigns and schedules."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import Framework

_TINY = Framework("tinygrad")
_REFUSED: Final = "Raises RuntimeError; the value of our form is that of the whole tensor, and raising is right, too."

TINYGRAD: Final = (
    _TINY.equal("Tensor.reshape", "reshape", "graph.C6"),
    _TINY.equal("Tensor.permute", "permute (node)", "graph.C6"),
    _TINY.equal("Tensor.expand", "expand", "graph.C6"),
    _TINY.equal("Tensor.pad", "pad", "graph.C22"),
    _TINY.equal("Tensor.shrink", "shrink", "graph.C6 graph.C4"),
    _TINY.equal("Tensor.flip", "flip", "graph.C6"),
    _TINY.equal("Tensor[::step]", "stride", "graph.C6"),
    _TINY.equal("Tensor.contiguous", "contig", "graph.C18 fusion.C6"),
    _TINY.equal("Tensor.detach", "detach", "graph.C18"),
    _TINY.equal("Tensor.cast", "cast (node)", "graph.C11"),
    *(
        _TINY.otherwise(
            "Tensor.cast",
            "cast (node)",
            "graph.C11 graph.C2",
            f"The conversion saturates: {past}. The reference gives {right}; graph.C11 leaves what overflows 8 bits "
            "free, "
            "so that both are right.",
            aspect=f"{dtype}, past the greatest number",
        )
        for dtype, past, right in (
            ("float8_e4m3fn", "896 becomes 448", "NaN"),
            ("float8_e5m2", "65536 becomes 57344", "an infinity"),
        )
    ),
    _TINY.equal("Tensor.cast", "cast (node)", "graph.C11", "An infinity.", aspect="float16, past the greatest number"),
    _TINY.equal("Tensor.bitcast", "bitcast", "graph.C12"),
    _TINY.equal("Tensor.arange", "iota", "graph.C15"),
    _TINY.equal("Tensor.where", "where", "graph.C10"),
    _TINY.equal("Tensor.maximum", "max", "graph.C24 graph.C37"),
    _TINY.equal("Tensor.add", "add", "graph.C7 graph.C8"),
    _TINY.otherwise(
        "Tensor.add",
        "add",
        "graph.C23",
        "Gives float32. Here no dtype is above both, and the graph is malformed.",
        aspect="of int64 and uint64",
    ),
    _TINY.equal("Tensor.mul", "mul", "graph.C7 graph.C8"),
    _TINY.equal("Tensor.sqrt", "sqrt", "graph.C39"),
    _TINY.otherwise(
        "Tensor.__floordiv__", "div", "graph.C7", "`//` rounds toward minus infinity; div truncates toward zero."
    ),
    _TINY.equal("Tensor.div", "div", "graph.C7", aspect='rounding_mode="trunc"'),
    _TINY.otherwise(
        "Tensor.__mod__", "mod", "graph.C7", "`%` has the sign of the divisor; mod has that of the dividend."
    ),
    _TINY.equal("Tensor.sum", 'reduce(fold="sum")', "graph.C13 graph.C29"),
    _TINY.otherwise(
        "Tensor.sum",
        'reduce(fold="sum")',
        "graph.C7",
        "A sum of bools counts in int32: the tensor is cast first. A reduce of bools is their or.",
        aspect="of bools",
    ),
    _TINY.otherwise(
        "Tensor.sum",
        'reduce(fold="sum")',
        "graph.C7 graph.C29",
        "Sums of small integers are in int32 or uint32, sums of float16 and bfloat16 are accumulated in float32 and "
        "converted back: the tensor is cast first. A reduce of int8 wraps around, unless it names an accumulator.",
        aspect="of int8",
    ),
    _TINY.equal("Tensor.max", 'reduce(fold="max")', "graph.C13 graph.C24"),
    _TINY.equal("Tensor.prod", 'reduce(fold="product")', "graph.C13"),
    _TINY.otherwise(
        "Tensor.mean",
        'all_reduce(op="mean")',
        "reduction.C13",
        "Means of integers are float32; reduction.C13 recommends float64.",
        aspect="of integers",
    ),
    _TINY.equal("Tensor.shard", "a split", "sharded.C11 sharded.C19", "`axis` is the axis that is split."),
    _TINY.equal("Tensor.shard", "a replica", "sharded.C3", aspect="axis=None"),
    _TINY.otherwise(
        "Tensor.shard",
        "a split",
        "sharded.C12",
        "Raises RuntimeError: since 2025-01 parts have one size. Before, trailing parts were shorter or empty.",
        aspect="parts of unequal sizes",
    ),
    _TINY.equal("Tensor.to", "a copy to a device", "sharded.C35 graph.C19"),
    _TINY.equal(
        "Tensor.to",
        "a copy to a device",
        "sharded.C37 collective.C18",
        "On one device 0.14.0 keeps every bit, the sign of a zero too.",
        aspect="of negative zeros of parts",
    ),
    _TINY.otherwise(
        "UOp.copy_to_device",
        "all_gather(tiled=True)",
        "sharded.C37 collective.C18",
        "On several devices parts are gathered by adding them to zeros: -0.0 becomes 0.0.",
        aspect="of negative zeros of parts, to several devices",
    ),
    _TINY.equal("Tensor.sum", "a fold along a split axis", "sharded.C22", aspect="over a sharded axis"),
    _TINY.otherwise("Tensor.shrink", "shrink", "sharded.C27 sharded.C42", _REFUSED, aspect="over several parts"),
    _TINY.otherwise("Tensor.flip", "flip", "sharded.C29 sharded.C42", _REFUSED, aspect="of a sharded axis"),
    _TINY.otherwise(
        "Tensor.assign",
        "an assign across placements",
        "sharded.C32 sharded.C35 sharded.C42",
        "Raises RuntimeError, *multi axis mismatch*: the value has to be placed as the target is. Here it is moved "
        "there "
        "first, and raising is right, too.",
        aspect="across placements",
    ),
    _TINY.silent(
        "Tensor.max",
        "Derivatives of graphs: outside. Equal maxima share the gradient evenly.",
        "transposes.C13",
        aspect="gradient",
    ),
    _TINY.equal(
        "Tensor.assign",
        "assign",
        "graph.C33 graph.C34",
        "Of a whole tensor that has storage. Values that were realized before, or together with the tensor, keep what "
        "they were.",
    ),
    _TINY.otherwise(
        "Tensor.assign",
        "assign",
        "graph.C34",
        "The value shows the later write: it reads the storage when it is realized. Here it keeps what it was when it "
        "was listed.",
        aspect="before an earlier value is realized",
    ),
    _TINY.otherwise(
        "Tensor.assign",
        "assign, assign",
        "graph.C34",
        "Realized together they raise RuntimeError, *cycle detected in assign graph*. Here each value keeps what it "
        "was when it was listed. Realize one of the values first.",
        aspect="two tensors, each of a value that was computed from the other",
    ),
    _TINY.otherwise(
        "Tensor.assign",
        "assign to a view",
        "graph.C34",
        "A value that was computed from the tensor before, and is realized later, shows the later write. Realize it "
        "before the assign. Here it keeps what it was.",
        aspect="to a slice that an earlier value reads",
    ),
    _TINY.otherwise(
        "Tensor.assign",
        "assign to a view",
        "graph.C33",
        "The tensor shows the write only once the result of the assign is realized. Here a reshape of storage is a "
        "view, in which every write is seen.",
        aspect="to a reshape, not realized",
    ),
    _TINY.otherwise(
        "Tensor.__setitem__",
        "assign to a view",
        "graph.C33",
        "Raises RuntimeError where another value was computed from the tensor before.",
        aspect="of a tensor with other uses",
    ),
    _TINY.otherwise(
        "Tensor.assign",
        "assign",
        "graph.C34",
        "A reduce over an axis of one element is a view to tinygrad, which is read when it is realized: it shows the "
        "later write. To this specification it is a computed value.",
        aspect="after a sum over one element",
    ),
    _TINY.equal("Tensor.realize", "a value that is asked for", "graph.C1 fusion.C1", aspect="of a sum of two tensors"),
    _TINY.otherwise(
        "Tensor.realize",
        "a value that is asked for",
        "no_kernel.C1",
        "One kernel fills the buffer; no_kernel.C1 recommends none, which a fill or a copy of constants reaches.",
        aspect="of a constant that is made contiguous",
    ),
    _TINY.equal("Tensor.linear_with_vars", "a schedule", "answer.C1 order.C6", status="`Tensor.schedule` before 0.14"),
    _TINY.equal("UOp.allreduce", 'all_reduce(op="sum")', "copies.C8 sharded.C51 sharded.C52"),
    _TINY.silent("Tensor.clone", "A copy in storage of its own.", "graph.C18", ours="contig"),
    _TINY.silent(
        "Tensor.gather",
        "Takes indices of the shape of the result; ours of one axis.",
        "graph.C14",
        ours="gather (node)",
    ),
    _TINY.silent(
        "TinyJit", "Captures items once and calls them with other buffers.", "replays.C1 form.C12", ours="a sequence"
    ),
    _TINY.silent("Tensor.is_realized", "Whether a tensor has storage.", "sharded.C45"),
    _TINY.silent(
        "Tensor.backward", "Derivatives of graphs: outside; of typed programs see transposes.", "transposes.C14"
    ),
    _TINY.silent(
        "MultiLazyBuffer",
        "A tensor on several devices until 2025: a part a device, the axis that is cut, and which parts are real.",
        "sharded.C2 sharded.C11 sharded.C14",
        ours="a split",
    ),
    _TINY.silent("LazyBuffer", "A node of the graph, or storage, until 2024.", "graph.C1", ours="a node"),
    _TINY.silent("RING", "The environment variable that chooses the ring.", "copies.C9 sharded.C52"),
    _TINY.silent("SPLIT_REDUCEOP", "Reduces of at least 32768 terms are split.", "splits.C1 splits.C3"),
    _TINY.silent("MAX_KERNEL_BUFFERS", "How many buffers a kernel takes.", "fusion.C7"),
)
