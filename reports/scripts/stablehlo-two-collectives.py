"""Two all_reduces of one group without channels: each is to give the least of its own operand."""

import subprocess
import sys

import numpy as np
from jax.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

TEXT = """
func.func @process(%x: tensor<1xi32>, %y: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %p = "stablehlo.all_reduce"(%x) ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>): %c = "stablehlo.minimum"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%c) : (tensor<i32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1xi32>) -> tensor<1xi32>
  %q = "stablehlo.all_reduce"(%y) ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>): %c = "stablehlo.minimum"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%c) : (tensor<i32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1xi32>) -> tensor<1xi32>
  "func.return"(%p, %q) : (tensor<1xi32>, tensor<1xi32>) -> ()
}
func.func @main(%a: tensor<1xi32>, %b: tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) {
  %r:4 = "interpreter.run_parallel"(%a, %b, %a, %b) {programs = [[@process], [@process]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  "func.return"(%r#0, %r#1, %r#2, %r#3) : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> ()
}
"""


def evaluated(*blocks):
    context = make_ir_context()
    stablehlo.register_interpreter_dialect(context)
    with context, ir.Location.unknown():
        given = [ir.DenseElementsAttr.get(block) for block in blocks]
        return [np.array(each).tolist() for each in stablehlo.eval_module(ir.Module.parse(TEXT), given)]


if "--child" in sys.argv:
    print(evaluated(*(np.array([each], np.int32) for each in (1, 2))))
    sys.exit()

child = subprocess.run([sys.executable, __file__, "--child"], capture_output=True, text=True, check=False)
said = (child.stdout.strip() or child.stderr.strip()).splitlines() or [""]
expected = "[[1], [2], [1], [2]]"
print(f"expected {expected}, observed {said[-1][:300]} (exit status {child.returncode})")
sys.exit(int(child.returncode != 0 or said[-1] != expected))
