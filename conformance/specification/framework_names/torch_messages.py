"""Names of Torch 2.13: messages, waits, dtypes, and functional collectives; executed over gloo."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import BEFORE_WAIT, READ_AT_START, Framework

_TORCH = Framework("torch")
_FUNCTIONAL: Final = "_functional_collectives"
_OLD: Final = "deprecated in 2.13; use {}"
_STARTED: Final = "async.C2 aliasing.C4 waits.C4"

MESSAGES: Final = (
    _TORCH.equal("distributed.send", "permute", "permute.C1", "One end of a pair."),
    _TORCH.equal("distributed.recv", "permute", "permute.C1", "The other end of a pair."),
    _TORCH.equal(
        "distributed.send",
        "permute, permute",
        "permute.C1",
        "Messages between two ranks arrive in the order in which they were sent; `tag` tells apart others.",
        aspect="twice to one rank",
    ),
    _TORCH.otherwise(
        "distributed.recv",
        "recv",
        "recv.C3",
        "A message is bytes: a tensor of another dtype of the same size receives the bits, without an error.",
        aspect="of another dtype than was sent",
    ),
    _TORCH.otherwise(
        "distributed.recv",
        "recv",
        "recv.C3",
        "A message is bytes: a tensor of another shape with as many receives them in order, without an error.",
        aspect="of another shape than was sent",
    ),
    _TORCH.otherwise(
        "distributed.send",
        "permute",
        "collective.C4",
        "Raises RuntimeError, *input tensor has to be contiguous*.",
        aspect="of a tensor that is not contiguous",
    ),
    _TORCH.otherwise(
        "distributed.all_to_all_single",
        "all_to_all(split_axis=0, concat_axis=0, tiled=True)",
        "collective.C4",
        "Raises ValueError, *Tensors must be contiguous*. Here a layout changes no result.",
        aspect="of a tensor that is not contiguous",
    ),
    *(
        _TORCH.otherwise(
            f"distributed.{name}",
            name,
            "collective.C4 aliasing.C7",
            "gloo takes the memory from the tensor's first element on as if it was contiguous: elements beside the "
            "tensor are read and written, its own are not, and nothing is raised. Here a layout changes no result.",
            aspect="of a tensor that is not contiguous, over gloo",
        )
        for name in ("broadcast", "reduce", "all_reduce", "scatter")
    ),
    _TORCH.equal(
        "distributed.all_gather",
        "all_gather(tiled=False)",
        "collective.C4",
        aspect="of a tensor that is not contiguous, over gloo",
    ),
    _TORCH.otherwise(
        "distributed.send",
        "permute",
        "permute.C5",
        "Raises ValueError, *destination rank should not be the same as the rank of the current process*. Here a "
        "position that is paired with itself keeps its block, as in MPI and `lax.ppermute`.",
        aspect="to the own rank",
    ),
    _TORCH.documented_otherwise(
        "distributed.all_reduce",
        "all_reduce",
        "collective.C4",
        "Raises ValueError, *Tensors must be contiguous*, as the other collectives do there. Here a layout changes no "
        "result. Of `x.contiguous()`, a copy, the result is in the copy, and x stays as it was.",
        aspect="of a tensor that is not contiguous, over NCCL",
    ),
    _TORCH.equal("distributed.isend", "send", "recv.C1"),
    _TORCH.equal("distributed.irecv", "recv", "recv.C1"),
    _TORCH.documented_otherwise(
        "distributed.isend",
        "send",
        _STARTED,
        f"Modifying the tensor before the request completes is undefined behaviour; {READ_AT_START}.",
        aspect=BEFORE_WAIT,
    ),
    _TORCH.documented_otherwise(
        "distributed.irecv",
        "recv",
        "recv.C1 waits.C3",
        "The tensor must not be read or written before the wait: it can have any bits. Here a step that reads "
        "what is received waits by itself.",
        aspect="using the buffer before the wait",
    ),
    _TORCH.equal("distributed.batch_isend_irecv", "permute", "permute.C1"),
    _TORCH.documented_otherwise(
        "distributed.batch_isend_irecv",
        "permute",
        _STARTED,
        f"As of isend: modifying what is sent before its request completes is undefined behaviour; {READ_AT_START}.",
        aspect=BEFORE_WAIT,
    ),
    _TORCH.equal("distributed.Work.wait", "done", "async.C1", "`async_op=True` is a start."),
    _TORCH.documented_otherwise(
        "distributed.Work.wait",
        "start",
        _STARTED,
        "A collective with `async_op=True` reads its tensor until its wait: writing it before then is a race, and the "
        f"result can have either value; {READ_AT_START}.",
        aspect=BEFORE_WAIT,
    ),
    _TORCH.equal("distributed.Work.wait", "done", "async.C5", "The same result again.", aspect="a second time"),
    _TORCH.silent(
        "distributed.Work.is_completed",
        "Whether something under way has ended is a test of completion: outside this specification.",
        "async.C1",
    ),
    _TORCH.otherwise(
        "Tensor.to",
        "cast (node)",
        "graph.C11 graph.C2",
        "The conversion saturates, of infinities too: 896 becomes 448. The reference gives NaN; graph.C11 leaves what "
        "overflows 8 bits free, so that both are right.",
        aspect="float8_e4m3fn, past the greatest number",
    ),
    *(
        _TORCH.equal(
            "Tensor.to", "cast (node)", "graph.C11", "An infinity.", aspect=f"{dtype}, past the greatest number"
        )
        for dtype in ("float8_e5m2", "float16")
    ),
    _TORCH.equal("promote_types", "the least dtype", "graph.C23", "Of tensors with axes; scalars weigh less."),
    _TORCH.equal("promote_types", "the least dtype", "graph.C23", "Both refuse it.", aspect="of int64 and uint64"),
    _TORCH.silent("distributed.monitored_barrier", "A barrier that names ranks that are late: outside.", "barrier.C1"),
    _TORCH.silent(
        "distributed.all_gather_object",
        "Pickled objects: outside. So are the other forms for objects.",
        "all_gather.C1",
    ),
    _TORCH.silent(
        "distributed.init_process_group", "Starting processes is outside. `timeout` bounds waits.", "liveness.C1"
    ),
    _TORCH.equal(f"{_FUNCTIONAL}.all_reduce", "all_reduce", "all_reduce.C1 aliasing.C4"),
    _TORCH.equal(f"{_FUNCTIONAL}.wait_tensor", "done", "async.C1"),
    _TORCH.equal(f"{_FUNCTIONAL}.broadcast", "broadcast", "broadcast.C2", "`src` is the position in the group."),
    _TORCH.equal(
        f"{_FUNCTIONAL}.all_gather_tensor",
        "all_gather(tiled=True)",
        "all_gather.C3",
        status=_OLD.format("all_gather_single"),
    ),
    _TORCH.equal(f"{_FUNCTIONAL}.all_gather_single", "all_gather(tiled=True)", "all_gather.C3", status="new in 2.13"),
    _TORCH.equal(
        f"{_FUNCTIONAL}.reduce_scatter_tensor",
        "reduce_scatter(tiled=True)",
        "reduce_scatter.C3",
        status=_OLD.format("reduce_scatter_single"),
    ),
    _TORCH.equal(
        f"{_FUNCTIONAL}.reduce_scatter_single", "reduce_scatter(tiled=True)", "reduce_scatter.C3", status="new in 2.13"
    ),
    _TORCH.equal(f"{_FUNCTIONAL}.all_to_all_single", "all_to_all_uneven", "all_to_all_uneven.C1"),
    _TORCH.equal(f"{_FUNCTIONAL}.permute_tensor", "permute", "permute.C1"),
    *(
        _TORCH.equal(f"_c10d_functional.{name}", ours, clauses, note)
        for name, ours, clauses, note in (
            ("all_reduce", "all_reduce", "all_reduce.C1 collective.C2", "Its operand keeps its elements."),
            ("all_reduce_", "all_reduce in place", "aliasing.C2", "The operand is the target."),
            ("all_gather_into_tensor", "all_gather(tiled=True)", "all_gather.C3", ""),
            ("reduce_scatter_tensor", "reduce_scatter(tiled=True)", "reduce_scatter.C3", ""),
            ("broadcast", "broadcast", "broadcast.C2", "`src` is the position in the group."),
            ("wait_tensor", "done", "async.C1", "The others are starts: they return before the result is there."),
        )
    ),
)
"""What Inductor lowers are the operators of ``torch.ops._c10d_functional``, which the functional collectives call."""
