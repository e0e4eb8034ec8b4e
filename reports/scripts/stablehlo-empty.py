"""all_gather of blocks without elements along the dimension that is gathered."""

import subprocess
import sys

import numpy as np
from jax.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

TEXT = """
func.func @process(%x: tensor<0xi32>) -> tensor<0xi32> {
  %p = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<0xi32>) -> tensor<0xi32>
  "func.return"(%p) : (tensor<0xi32>) -> ()
}
func.func @main(%a: tensor<0xi32>) -> (tensor<0xi32>, tensor<0xi32>) {
  %r:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@process], [@process]]} : (tensor<0xi32>, tensor<0xi32>) -> (tensor<0xi32>, tensor<0xi32>)
  "func.return"(%r#0, %r#1) : (tensor<0xi32>, tensor<0xi32>) -> ()
}
"""


def evaluated(*blocks):
    context = make_ir_context()
    stablehlo.register_interpreter_dialect(context)
    with context, ir.Location.unknown():
        given = [ir.DenseElementsAttr.get(block) for block in blocks]
        return [np.array(each).tolist() for each in stablehlo.eval_module(ir.Module.parse(TEXT), given)]


if "--child" in sys.argv:
    print(evaluated(np.empty(0, np.int32)))
    sys.exit()

child = subprocess.run([sys.executable, __file__, "--child"], capture_output=True, text=True, check=False)
said = (child.stdout.strip() or child.stderr.strip()).splitlines() or [""]
expected = "[[], []]"
print(f"expected {expected}, observed {said[-1][:300]} (exit status {child.returncode})")
sys.exit(int(child.returncode != 0 or said[-1] != expected))
