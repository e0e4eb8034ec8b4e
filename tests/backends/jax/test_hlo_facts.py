"""What XLA compiles is read off its HLO, and is what the rules of lowering say."""

from __future__ import annotations

from conformance.backends.jax import Jax, JaxUnchecked
from conformance.backends.jax.hlo_facts import read
from conformance.backends.observing import typed
from conformance.cases.types.lowered import Lowered
from conformance.generate.types.data import compiled_cases
from conformance.runner.dialects.types import mean
from conformance.runner.draws import numbered
from conformance.specs.types.verdict import judge

TEXT = """
%region_1.2 (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %m = f32[] maximum(%x, %y)
}

ENTRY %main (a: f32[4], b: f32[4]) -> f32[4] {
  %r = (f32[4]{0}, f32[4]{0}) all-reduce(%a, %b), channel_id=1, replica_groups={{0},{2,1}}, to_apply=%region_1.2
  %g = f32[8]{0} all-gather(%a), replica_groups=[2,2]<=[2,2]T(1,0), use_global_device_ids=true, dimensions={0}
  %p = f32[4]{0} collective-permute-start(%b), channel_id=2, source_target_pairs={{0,1},{1,0}}
  %q = f32[4]{0} collective-permute-done(f32[4]{0} %p)
}
"""

WRAPPED = """
%exchange (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %e = f32[4]{0} all-to-all(%x), replica_groups={{1,0}}, dimensions={0}
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %s = ((f32[4]{0}), f32[4]{0}, u32[]) async-start(f32[4]{0} %a), calls=%exchange
  %d = f32[4]{0} async-done(((f32[4]{0}), f32[4]{0}, u32[]) %s), calls=%exchange
  ROOT %t = f32[4]{0} async-done(((f32[4]{0}), f32[4]{0}, u32[]) %s), calls=%exchange
}
"""


def test_facts_are_read_off_compiled_hlo() -> None:
    reduced = Lowered(op="all_reduce", groups=((0, -1), (2, 1)), reducer="max")
    gathered = Lowered(op="all_gather", groups=((0, 2), (1, 3)), global_ids=True)
    moved = Lowered(op="permute", groups=((0, 1), (1, 0)), started=True, dones=1)
    assert read(TEXT) == [reduced, reduced, gathered, moved]


def test_a_done_is_counted_of_what_a_start_calls() -> None:
    assert read(WRAPPED) == [Lowered(op="all_to_all", groups=((1, 0),), started=True, dones=2)]


def test_xla_compiles_drawn_programs_as_the_rules_say(jax: Jax, unchecked: JaxUnchecked) -> None:
    passed = 0
    for number in range(60):
        case = numbered(compiled_cases(), 0, number)[0]
        meaning = mean(case)
        # Where it promotes a 16-bit reduction, XLA ends the process ("Invalid binary instruction opcode copy").
        if meaning is None or any("16" in given.dtype for given in case.program.inputs.values()):
            continue
        verdict = judge(meaning, typed(jax if case.program.checked else unchecked, case), ("jax",))
        passed += verdict.outcome == "passed"
        # XLA cannot compile all that is started for a CPU, nor JAX lower broadcast.
        assert verdict.outcome in ("passed", "errored", "unsupported"), (case.program, verdict.detail)
    assert passed > 20
