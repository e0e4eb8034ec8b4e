"""What XLA compiles is read off its HLO, and is what the rules of lowering say."""

from __future__ import annotations

from collections import Counter

from conformance.backends.jax import Jax, typed
from conformance.backends.jax.compiled import read
from conformance.cases.types.lowered import Lowered
from conformance.reference.types.check import check
from conformance.reference.types.lowering import lowered
from conformance.runner.draws import numbered
from conformance.specs.types.data import lowered_cases

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
}
"""


def test_facts_are_read_off_compiled_hlo() -> None:
    reduced = Lowered(op="all_reduce", groups=((0, -1), (2, 1)), reducer="max")
    gathered = Lowered(op="all_gather", groups=((0, 2), (1, 3)), global_ids=True)
    assert read(TEXT) == [reduced, reduced, gathered, Lowered(op="permute", groups=((0, 1), (1, 0)), started=True)]


def told(facts: list[Lowered]) -> Counter[object]:
    """Count facts; the groups of a reduction are sets of ranks, and the others are in order."""
    return Counter(
        (fact.op, fact.reducer, fact.global_ids, frozenset(map(frozenset if fact.reducer else tuple, fact.groups)))
        for fact in facts
        if fact.op != "axis_index"
    )


def test_xla_compiles_drawn_programs_as_the_rules_say(jax: Jax) -> None:
    seen: Counter[object] = Counter()
    for number in range(40):
        program = numbered(lowered_cases(), 0, number)[0].program
        on_cpus = all(not step.start and step.op not in ("broadcast", "ragged_all_to_all") for step in program.steps)
        types = check(program)
        # JAX has no mean over local axes. What is unreduced leaves as its sum, which is no step.
        local = any(step.attrs.get("op") == "mean" and "local_axes" in step.attrs for step in program.steps)
        if on_cpus and not local and not any(types[name].unreduced for name in program.results):
            found = told(read(typed.compiled(program, jax._devices)))
            assert found <= told([*lowered(program)]), (number, program)
            seen += found
    assert len(seen) > 5
