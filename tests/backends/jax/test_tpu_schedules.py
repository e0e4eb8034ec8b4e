"""The order and the pairs of HLO that is scheduled for TPUs: what contradicts itself is refused, and named."""

from __future__ import annotations

import pytest

from conformance.backends.jax.hlo.module import Module, read_module
from conformance.backends.jax.tpu.pairs import BrokenPair, check

TILED = "f32[2,3]{1,0:T(2,128)}"
NEAR = "f32[2,3]{1,0:T(2,128)S(1)}"

COPIED = f"""HloModule copied, is_scheduled=true
ENTRY e {{
  p = {TILED} parameter(0)
  s = ({NEAR}, {TILED}, u32[]{{:S(2)}}) copy-start(p)
  q = {TILED} negate(p)
  d = {NEAR} copy-done(s)
  ROOT r = {TILED} add(d, q)
}}"""

CARRIED = """HloModule carried, is_scheduled=true, num_partitions=2
begin {
  x = f32[2]{0} parameter(0)
  g = f32[4]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  ROOT c = (f32[2]{0}, f32[4]{0}, u32[]) custom-call(g), custom_call_target="AsyncCollectiveStart"
}
during {
  x = f32[2]{0} parameter(0)
  y = f32[4]{0} parameter(1)
  z = f32[2]{0} parameter(2)
  n = f32[2]{0} negate(z)
  g = f32[4]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  ROOT t = (f32[2]{0}, f32[4]{0}, f32[4]{0}, f32[2]{0}) tuple(x, y, g, n)
}
end {
  x = f32[2]{0} parameter(0)
  y = f32[4]{0} parameter(1)
  g = f32[4]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  ROOT c = f32[4]{0} custom-call(x, y, g), custom_call_target="AsyncCollectiveDone"
}
ENTRY e {
  p = f32[2]{0} parameter(0)
  z = f32[2]{0} parameter(1)
  s = (f32[2]{0}, f32[4]{0}, u32[]) fusion(p), kind=kCustom, calls=begin, output_to_operand_aliasing={{0}: (0, {})}
  x = f32[2]{0} get-tuple-element(s), index=0
  y = f32[4]{0} get-tuple-element(s), index=1
  u = (f32[2]{0}, f32[4]{0}, f32[4]{0}, f32[2]{0}) fusion(x, y, z), kind=kLoop, calls=during,
    output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {}), {2}: (1, {})}
  ux = f32[2]{0} get-tuple-element(u), index=0
  uy = f32[4]{0} get-tuple-element(u), index=1
  n = f32[2]{0} get-tuple-element(u), index=3
  d = f32[4]{0} fusion(ux, uy), kind=kCustom, calls=end, output_to_operand_aliasing={{}: (1, {})}
  ROOT r = (f32[4]{0}, f32[2]{0}) tuple(d, n)
}"""

OVERWRITTEN = """HloModule overwritten, is_scheduled=true
twice {
  a = f32[2]{0} parameter(0)
  ROOT b = f32[2]{0} add(a, a)
}
ENTRY e {
  p = f32[2]{0} parameter(0)
  q = f32[2]{0} negate(p)
  f = f32[2]{0} fusion(q), kind=kLoop, calls=twice, output_to_operand_aliasing={{}: (0, {})}
  ROOT r = f32[2]{0} add(f, p)
}"""


LOOPED = """HloModule looped, is_scheduled=true
body {
  t = (s32[], f32[2]{0}) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[2]{0} get-tuple-element(t), index=1
  s = (f32[2]{0:S(1)}, f32[2]{0}, u32[]) copy-start(x)
  d = f32[2]{0:S(1)} copy-done(s)
  y = f32[2]{0} negate(d)
  ROOT r = (s32[], f32[2]{0}) tuple(i, y)
}
going {
  t = (s32[], f32[2]{0}) parameter(0)
  ROOT c = pred[] constant(false)
}
ENTRY e {
  p = (s32[], f32[2]{0}) parameter(0)
  ROOT w = (s32[], f32[2]{0}) while(p), condition=going, body=body
}"""


def module(text: str) -> Module:
    hlo = pytest.importorskip("jaxlib._hlo")
    return read_module(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())


@pytest.mark.parametrize("text", [COPIED, CARRIED, OVERWRITTEN, LOOPED])
def test_what_is_started_ended_and_not_used_meanwhile_is_legal(text: str) -> None:
    check(module(text))


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (COPIED, "negate(p)", "get-tuple-element(s), index=1", "s: one instruction must .* and q, d does"),
        (COPIED, f"d = {NEAR}", f"d = {TILED}", "memory 0, and s.* started one of .* in memory 1"),
        (CARRIED, "negate(z)\n  g", "slice(y), slice={[0:2]}\n  g", "uses what s started before it is done"),
        (CARRIED, "tuple(d, n)", "tuple(y, n)", "r uses what s started before it is done"),
        (CARRIED, "fusion(ux, uy)", "fusion(x, y)", "s: both u and d carry it on from one place"),
        (LOOPED, "negate(d)", "get-tuple-element(s), index=1", "one instruction must .* and d, y does"),
        (OVERWRITTEN, "add(f, p)", "add(f, q)", "r reads q, which f has overwritten"),
    ],
    ids=[
        "used",
        "another memory",
        "read by what carries it on",
        "read by the result",
        "ended past",
        "in a loop",
        "read later",
    ],
)
def test_a_schedule_that_contradicts_itself_is_named(text: str, old: str, new: str, said: str) -> None:
    assert old in text
    with pytest.raises(BrokenPair, match=said):
        check(module(text.replace(old, new)))


def test_parts_of_one_collective_have_one_channel() -> None:
    first, _, rest = CARRIED.partition("during {")
    with pytest.raises(BrokenPair, match="carries on s as another collective, channel or grouping"):
        check(module(f"{first}during {{{rest.replace('channel_id=1', 'channel_id=7', 1)}"))


def test_what_is_started_and_never_ended_is_named() -> None:
    text = CARRIED.replace("tuple(d, n)", "tuple(z, n)").replace(
        "(f32[4]{0}, f32[2]{0}) tuple", "(f32[2]{0}, f32[2]{0}) tuple"
    )
    lines = [line for line in text.splitlines() if not line.startswith("  d = ")]
    with pytest.raises(BrokenPair, match="s: 0 instructions end it"):
        check(module("\n".join(lines)))


def test_an_operand_of_what_is_under_way_is_not_overwritten() -> None:
    text = """HloModule late, is_scheduled=true
    twice {
      a = f32[2]{0} parameter(0)
      ROOT b = f32[2]{0} add(a, a)
    }
    ENTRY e {
      p = f32[2]{0} parameter(0)
      q = f32[2]{0} negate(p)
      s = (f32[2]{0:S(1)}, f32[2]{0}, u32[]) copy-start(q)
      f = f32[2]{0} fusion(q), kind=kLoop, calls=twice, output_to_operand_aliasing={{}: (0, {})}
      d = f32[2]{0:S(1)} copy-done(s)
      ROOT r = f32[2]{0} add(f, d)
    }"""
    with pytest.raises(BrokenPair, match="s may still read q, which f has overwritten"):
        check(module(text))
    earlier = next(line for line in text.splitlines() if "copy-done" in line)
    check(module(text.replace(earlier, "").replace("      f =", f"{earlier}\n      f =")))
