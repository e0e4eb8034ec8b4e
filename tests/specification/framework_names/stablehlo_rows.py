"""Names of StableHLO, run on two processes of its reference interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.specification.framework_names.rows import Rows, reference, says

stablehlo_rows = Rows("stablehlo")

X = [[1, 10], [2, 20]]
SUM = (
    "^bb0(%a: tensor<i32>, %b: tensor<i32>): %c = stablehlo.add %a, %b : tensor<i32> stablehlo.return %c : tensor<i32>"
)
BOTH = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
SWAPPED = "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>"


def call(name: str, aspect: str, operation: str, result: str, ours: Any, shown: Any = None) -> None:
    """Enter a row: an operation on ``%x``, of two whole numbers, and the type of its result."""

    def run(rank: int) -> Any:
        return evaluated(operation, result)[rank]

    stablehlo_rows(name, aspect, ours=ours, theirs=shown)(run)


def evaluated(operation: str, result: str) -> list[Any]:
    from jax.interpreters.mlir import make_ir_context
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    given = "tensor<2xi32>"
    text = f"""
    func.func @process(%x: {given}) -> {result} {{
      {operation}
      func.return %y : {result}
    }}
    func.func @main(%x0: {given}, %x1: {given}) -> ({result}, {result}) {{
      %r:2 = "interpreter.run_parallel"(%x0, %x1) {{
        programs = [[@process], [@process]]
      }} : ({given}, {given}) -> ({result}, {result})
      func.return %r#0, %r#1 : {result}, {result}
    }}"""
    context = make_ir_context()
    stablehlo.register_interpreter_dialect(context)
    with context, ir.Location.unknown():
        parsed = ir.Module.parse(text)
        blocks = [ir.DenseElementsAttr.get(np.array(block, np.int32)) for block in X]
        return [np.array(each) for each in stablehlo.eval_module(parsed, blocks)]


call(
    "all_reduce",
    "",
    f'%y = "stablehlo.all_reduce"(%x) ({{ {SUM} }}) {{{BOTH}}} : (tensor<2xi32>) -> tensor<2xi32>',
    "tensor<2xi32>",
    reference("all_reduce", X, op="sum"),
)
call(
    "all_gather",
    "",
    f'%y = "stablehlo.all_gather"(%x) {{all_gather_dim = 0 : i64, {SWAPPED}}} : (tensor<2xi32>) -> tensor<4xi32>',
    "tensor<4xi32>",
    reference("all_gather", X, axis=0, tiled=True, groups=((1, 0),)),
)
call(
    "reduce_scatter",
    "",
    f'%y = "stablehlo.reduce_scatter"(%x) ({{ {SUM} }}) {{scatter_dimension = 0 : i64, {BOTH}}} : '
    f"(tensor<2xi32>) -> tensor<1xi32>",
    "tensor<1xi32>",
    reference("reduce_scatter", X, op="sum", axis=0, tiled=True),
)
call(
    "all_to_all",
    "",
    f'%y = "stablehlo.all_to_all"(%x) {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = '
    f"2 : i64, {BOTH}}} : (tensor<2xi32>) -> tensor<2xi32>",
    "tensor<2xi32>",
    reference("all_to_all", X, split_axis=0, concat_axis=0, tiled=True),
)
call(
    "collective_permute",
    "",
    '%y = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : '
    "(tensor<2xi32>) -> tensor<2xi32>",
    "tensor<2xi32>",
    reference("permute", X, pairs=((0, 1),)),
)
call(
    "collective_broadcast",
    "",
    f'%y = "stablehlo.collective_broadcast"(%x) {{{SWAPPED}}} : (tensor<2xi32>) -> tensor<2xi32>',
    "tensor<2xi32>",
    reference("broadcast", X, root=0, groups=((1, 0),)),
)
call(
    "replica_id", "", '%y = "stablehlo.replica_id"() : () -> tensor<ui32>', "tensor<ui32>", says("uint32 0", "uint32 1")
)

if __name__ == "__main__":
    from tests.specification.framework_names import stablehlo_rows as module

    for rank in range(2):
        module.stablehlo_rows.observe(rank, Path(sys.argv[1]) / f"stablehlo{rank}.json")
