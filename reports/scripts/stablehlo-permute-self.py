"""collective_permute in the interpreter, where each of two processes sends to itself."""

import subprocess
import sys

import numpy as np
from jax.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

TEXT = """
func.func @process(%x: tensor<1xi32>) -> tensor<1xi32> {
  %p = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>} : (tensor<1xi32>) -> tensor<1xi32>
  "func.return"(%p) : (tensor<1xi32>) -> ()
}
func.func @main(%a: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %r:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@process], [@process]]} : (tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>)
  "func.return"(%r#0, %r#1) : (tensor<1xi32>, tensor<1xi32>) -> ()
}
"""

if "--child" in sys.argv:
    context = make_ir_context()
    stablehlo.register_interpreter_dialect(context)
    with context, ir.Location.unknown():
        given = [ir.DenseElementsAttr.get(np.array([7], np.int32))]
        print([np.array(each).tolist() for each in stablehlo.eval_module(ir.Module.parse(TEXT), given)])
    sys.exit()

child = subprocess.run([sys.executable, __file__, "--child"], capture_output=True, text=True, check=False)
said = (child.stdout.strip() or child.stderr.strip()).splitlines() or [""]
print(f"expected [[7], [7]], observed {said[-1][:300]} (exit status {child.returncode})")
sys.exit(int(child.returncode != 0 or said[-1] != "[[7], [7]]"))
