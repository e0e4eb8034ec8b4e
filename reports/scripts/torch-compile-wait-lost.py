"""Inductor leaves out the wait of a graph that lies where a dead one lay, in which the wait was left out rightly."""

import sys
from unittest import mock

import torch
import torch.distributed as dist
from torch._inductor import comm_lowering, compile
from torch._inductor.codegen.wrapper import AllocateLine
from torch._inductor.graph import GraphLowering
from torch.distributed import _symmetric_memory
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
group, c10d, texts = dist.group.WORLD.group_name, torch.ops._c10d_functional, []


def summed(x):  # below 128 KiB: one blocking call, whose wait is left out
    return c10d.wait_tensor(c10d.all_reduce(x + x, "sum", group))


def gathered(x):  # never one-shot
    return c10d.wait_tensor(c10d.all_gather_into_tensor(x + x, 2, group))


def at_the_address_of_a_dead_graph(cls, *_, **__):
    """Take free memory until it is where a graph lay; which memory is free is nothing that a program may rely on."""
    dead, kept = {address for address, _ in comm_lowering._bufs_to_skip_wait}, []
    while len(kept) < 20_000:
        kept.append(object.__new__(cls))
        if id(kept[-1]) in dead:
            break
    return kept[-1]


def stopped(self):  # the text is enough: no C++ is built
    texts.append(self.codegen()[0].value)
    return type("Module", (), {"call": lambda *_: None})()


def on_a_device(self, code, written=AllocateLine._codegen_comm_buffer):  # a processor has no number
    with mock.patch.object(type(self.node), "get_device", return_value=torch.device("cuda", 0)):
        written(self, code)


example, options = torch.ones(8), {"force_disable_caches": True, "_collective.auto_select": True, "cpp.vec_isa_ok": True}
patches = {"compile_to_module": stopped, "__new__": at_the_address_of_a_dead_graph}
with _symmetric_memory._test_mode(), mock.patch.multiple(GraphLowering, **patches):
    with mock.patch.object(AllocateLine, "_codegen_comm_buffer", on_a_device):
        for _ in range(50):
            for function in (summed, gathered):
                compile(make_fx(function, tracing_mode="fake")(example), [example], options)
            if "wait_tensor.default(" not in texts[-1]:
                print(texts[-1][texts[-1].index("def call") : texts[-1].index("runner =")])
                sys.exit(1)
