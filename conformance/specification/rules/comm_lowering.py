"""The rules of ``torch/_inductor/comm_lowering.py``: collectives in compiled graphs, and their buffers."""

from typing import Final

# A row is one line, as in the document that is made of it.
# ruff: noqa: E501
ROWS: Final = """
1 | Every call of a collective works on the same allocation, at the same offset, in each iteration. | NOTE | communication.C10
2 | All ranks of a group agree on the sequence of allocations that its collectives work on. | NOTE | communication.C6 communication.C7 waits.C7 ; allocations of members go with each other one to one, whatever their names
3 | In the strictest family the offsets within the allocations agree too. | NOTE | communication.C8
4 | A collective on buffers that are not registered gives the same values. | NOTE | law.C1
5 | Loops, what has a communication layout already, and what has a free layout of a known size can be a communication buffer; nothing else can. | can_realize_as_comm_buffer | communication.C1 communication.C13 ; Inductor takes no input as it is, and every computed value; what a call gives may be either
6 | A value is made a communication buffer once, and another fixed layout is refused. | realize_as_comm_buffer | communication.C5 ; that another layout is refused is nothing a schedule shows, and Inductor 2.13 takes fixed layouts too
7 | A value of a size that is a variable is no communication buffer. | realize_as_comm_buffer | excluded: no program of collectives has a size that is a variable; of a schedule that has such a buffer `communication.C2` says it
8 | A communication buffer is of one kind and one group. | realize_as_comm_buffer | form.C13 communication.C3 communication.C4
9 | Communication buffers share bytes among their like only. | realize_as_comm_buffer | memory.C9
10 | A communication buffer is used by collectives of its group only. | realize_as_comm_buffer | communication.C3
11 | The buffer of an operand is found through views of it. | _get_data | form.C8 law.C1 ; XLA's collectives for TPUs read operands through bitcasts
12 | The wait for a collective that has become blocking is left out. | mark_as_skip_wait | form.C4 waits.C1
13 | It is left out there only: for a source that lives, and for a view, it stays. | should_skip_wait | waits.C1 waits.C3 ; Inductor leaves none out but for one-shot, XLA's compiler for TPUs none at all
14 | Which waits are left out is known of one graph, and of no later one. | _bufs_to_skip_wait | communication.C21 waits.C3
15 | One shot is taken where it is switched on, the group has symmetric memory, the operand can be a communication buffer, the reduction is a sum, and the bytes are at most the bound. | _should_lower_as_one_shot_all_reduce | communication.C12 communication.C13
16 | The choice is equal on all ranks. | _should_lower_as_one_shot_all_reduce | communication.C14 communication.C15
17 | One shot gives the values of any other algorithm. | _one_shot_all_reduce | law.C1 ; `torch-inductor` is judged with one-shot on and off, each time against eager execution
18 | Without torch.distributed nothing is registered. | register_comm_lowerings | excluded: no program shows which lowerings an installation has; a backend without collectives claims none
19 | An operand has the strides that it had in the graph that was traced. | constrain_to_fx_strides | communication.C19 ; or in row-major order, which Inductor asks of what is done in place; asked of `torch-inductor`, which alone traces
20 | An all_reduce out of place leaves its operand as it was. | _all_reduce | collective.C2 aliasing.C4
21 | The copy of the operand is left out where nothing reads it later, and made where something does. | _all_reduce | waits.C5 waits.C6 ; asked of `torch-inductor`, whose collectives are one call
22 | That copy is not fused with others where collectives are to begin early. | _all_reduce: no_fuse_buffer_names | communication.C18 ; asked of `torch-inductor` with `raise_and_sink`: no other engine copies for a collective
23 | The operand of a collective in place is contiguous. | require_contiguous | communication.C20 ; without gaps and alike on all participants, in whatever order of axes; asked of `torch-inductor`: XLA's collectives give fresh results, and kernels of the native engine take any strides
24 | all_reduce_ writes its operand and returns it. | _all_reduce_ | aliasing.C2 aliasing.C3 async.C16
25 | all_reduce_ by one shot copies the result back, and has no wait. | _all_reduce_ | form.C4 waits.C3 aliasing.C2 ; one shot is no started item: a wait for it has no handle
26 | A coalesced all_reduce is one call, and copies each operand. | _all_reduce_coalesced | collective.C26 async.C12 communication.C16 communication.C17
27 | A coalesced all_reduce in place writes its operands. | _all_reduce_coalesced_ | aliasing.C19 communication.C20
28 | all_gather_into_tensor and reduce_scatter_tensor give fresh results. | _create_out_of_place | aliasing.C4 aliasing.C11
29 | Their coalesced forms give for each operand what one alone gives. | _create_out_of_place | collective.C26
30 | all_gather_into_tensor_out writes its target and returns it. | _all_gather_into_tensor_out | aliasing.C1 aliasing.C3
31 | all_to_all_single takes as many rows for each member as is said. | _all_to_all_single | all_to_all_uneven.C1 all_to_all_uneven.C2 all_to_all_uneven.C3 all_to_all_uneven.C4 all_to_all_uneven.C5 all_to_all_uneven.C6
32 | broadcast gives a fresh result, and broadcast_ writes its operand. | _broadcast, _broadcast_ | aliasing.C2 aliasing.C4
33 | shard_dim_alltoall cuts along one axis and joins along another. | _shard_dim_alltoall | all_to_all.C1 all_to_all.C3 all_to_all.C9
34 | wait_tensor returns what it is given. | _wait_tensor | async.C16 async.C1
35 | These lowerings give the values of eager execution. | register_comm_lowerings | law.C1 ; asked of `torch-inductor`, whose calls of ATen have no body
36 | Communication buffers are allocated once for all iterations, and planned among themselves. | NOTE | communication.C10 communication.C9 communication.C11 memory.C9
"""
