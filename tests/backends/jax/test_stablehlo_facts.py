"""What JAX lowers is read off its StableHLO, and is what the rules of lowering say."""

from __future__ import annotations

from conformance.backends.jax import Jax, JaxUnchecked
from conformance.backends.jax.stablehlo_facts import read
from conformance.backends.observing import typed
from conformance.cases.types.lowered import Lowered
from conformance.generate.types.data import lowered_cases
from conformance.runner.dialects.types import mean
from conformance.runner.draws import numbered
from conformance.specs.types.verdict import judge

TEXT = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xf32>):
      %r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, -1], [1, 2]]> : tensor<2x2xi64>}> ({
        ^bb0(%b: tensor<f32>, %c: tensor<f32>):
          %m = stablehlo.maximum %b, %c : tensor<f32>
          stablehlo.return %m : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %r : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  %y = "stablehlo.async_done"(%t) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
"""


def test_facts_are_read_off_a_text() -> None:
    assert read(TEXT) == [Lowered(op="all_reduce", groups=((0, -1), (1, 2)), reducer="max", started=True, dones=1)]


def test_jax_lowers_drawn_programs_as_the_rules_say(jax: Jax, unchecked: JaxUnchecked) -> None:
    passed = 0
    for number in range(25):
        case = numbered(lowered_cases(), 0, number)[0]
        meaning = mean(case)
        if meaning is None:
            continue
        verdict = judge(meaning, typed(jax if case.program.checked else unchecked, case), ("jax",))
        passed += verdict.outcome == "passed"
        assert verdict.outcome in ("passed", "errored", "unsupported"), (case.program, verdict.detail)
    assert passed > 15
