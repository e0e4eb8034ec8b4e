"""A complex result of a module, read by the bindings of jaxlib."""

import subprocess
import sys

import numpy as np
from jax.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

TEXT = """
func.func @main(%a: tensor<1xf32>) -> tensor<1xcomplex<f32>> {
  %c = "stablehlo.complex"(%a, %a) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xcomplex<f32>>
  "func.return"(%c) : (tensor<1xcomplex<f32>>) -> ()
}
"""


def evaluated(*blocks):
    context = make_ir_context()
    stablehlo.register_interpreter_dialect(context)
    with context, ir.Location.unknown():
        given = [ir.DenseElementsAttr.get(block) for block in blocks]
        return [np.array(each).tolist() for each in stablehlo.eval_module(ir.Module.parse(TEXT), given)]


if "--child" in sys.argv:
    print(evaluated(np.array([1], np.float32)))
    sys.exit()

child = subprocess.run([sys.executable, __file__, "--child"], capture_output=True, text=True, check=False)
said = (child.stdout.strip() or child.stderr.strip()).splitlines() or [""]
expected = "[[(1+1j)]]"
print(f"expected {expected}, observed {said[-1][:300]} (exit status {child.returncode})")
sys.exit(int(child.returncode != 0 or said[-1] != expected))
