"""The rules of ``torch/_inductor/comm_lowering.py``: collectives in compiled graphs, and their buffers."""

from typing import Final

# A row is one line, as in the document that is made of it.
# ruff: noqa: E501
ROWS: Final = """
1 | Every call of a collective works on the same allocation, at the same offset, in each iteration. | NOTE | part 5: no relation compares the buffers of two runs
2 | All ranks of a group agree on the sequence of allocations that its collectives work on. | NOTE | part 5: no clause compares the buffers of ranks
3 | In the strictest family the offsets within the allocations agree too. | NOTE | part 5: no clause compares the buffers of ranks
4 | A collective on buffers that are not registered gives the same values. | NOTE | law.C1
5 | Loops, what has a communication layout already, and what has a free layout of a known size can be a communication buffer; nothing else can. | can_realize_as_comm_buffer | part 5: no word for the layout of an operand
6 | A value is made a communication buffer once, and another fixed layout is refused. | realize_as_comm_buffer | part 5: no word for the layout of an operand
7 | A value of a size that is a variable is no communication buffer. | realize_as_comm_buffer | part 5: no clause is about communication buffers of variable size
8 | A communication buffer is of one kind and one group. | realize_as_comm_buffer | part 5: a buffer names its group and no kind
9 | Communication buffers share bytes among their like only. | realize_as_comm_buffer | part 5: memory.C9 says it, and no backend's schedule has such buffers
10 | A communication buffer is used by collectives of its group only. | realize_as_comm_buffer | part 5: no clause
11 | The buffer of an operand is found through views of it. | _get_data | part 5: form.C8 and law.C1 say it of schedules, and no backend's collectives have such operands
12 | The wait for a collective that has become blocking is left out. | mark_as_skip_wait | form.C4 waits.C1
13 | It is left out there only: for a source that lives, and for a view, it stays. | should_skip_wait | part 5: waits.C1 and waits.C3 say it, and Inductor is not judged on collectives
14 | Which waits are left out is known of one graph, and of no later one. | _bufs_to_skip_wait | part 5: no relation between two graphs of one process
15 | One shot is taken where it is switched on, the group has symmetric memory, the operand can be a communication buffer, the reduction is a sum, and the bytes are at most the bound. | _should_lower_as_one_shot_all_reduce | part 5: no clause is about the choice of an algorithm
16 | The choice is equal on all ranks. | _should_lower_as_one_shot_all_reduce | part 5: no clause is about the choice of an algorithm
17 | One shot gives the values of any other algorithm. | _one_shot_all_reduce | part 5: no relation between a switch on and off
18 | Without torch.distributed nothing is registered. | register_comm_lowerings | excluded: no program shows which lowerings an installation has; a backend without collectives claims none
19 | An operand has the strides that it had in the graph that was traced. | constrain_to_fx_strides | part 5: a graph has no strides of values
20 | An all_reduce out of place leaves its operand as it was. | _all_reduce | collective.C2 aliasing.C4
21 | The copy of the operand is left out where nothing reads it later, and made where something does. | _all_reduce | part 5: waits.C5 and waits.C6 say it, and no backend's schedule has a collective in one call
22 | That copy is not fused with others where collectives are to begin early. | _all_reduce: no_fuse_buffer_names | part 5: no word for what is not to be fused
23 | The operand of a collective in place is contiguous. | require_contiguous | part 5: no clause is about the strides of operands
24 | all_reduce_ writes its operand and returns it. | _all_reduce_ | aliasing.C2 aliasing.C3 async.C16
25 | all_reduce_ by one shot copies the result back, and has no wait. | _all_reduce_ | part 5: values only
26 | A coalesced all_reduce is one call, and copies each operand. | _all_reduce_coalesced | part 5: collective.C26, async.C12 and aliasing.C19 are about values; that it is one call is not asked
27 | A coalesced all_reduce in place writes its operands. | _all_reduce_coalesced_ | part 5: no adapter has this form
28 | all_gather_into_tensor and reduce_scatter_tensor give fresh results. | _create_out_of_place | aliasing.C4 aliasing.C11
29 | Their coalesced forms give for each operand what one alone gives. | _create_out_of_place | collective.C26
30 | all_gather_into_tensor_out writes its target and returns it. | _all_gather_into_tensor_out | aliasing.C1 aliasing.C3
31 | all_to_all_single takes as many rows for each member as is said. | _all_to_all_single | all_to_all_uneven.C1 all_to_all_uneven.C2 all_to_all_uneven.C3 all_to_all_uneven.C4 all_to_all_uneven.C5 all_to_all_uneven.C6
32 | broadcast gives a fresh result, and broadcast_ writes its operand. | _broadcast, _broadcast_ | aliasing.C2 aliasing.C4
33 | shard_dim_alltoall cuts along one axis and joins along another. | _shard_dim_alltoall | all_to_all.C1 all_to_all.C3 all_to_all.C9
34 | wait_tensor returns what it is given. | _wait_tensor | async.C16 async.C1
35 | These lowerings give the values of eager execution. | register_comm_lowerings | part 5: the adapter of Inductor refuses graphs with several devices
36 | Communication buffers are allocated once for all iterations, and planned among themselves. | NOTE | part 5: no clause beside memory.C9
"""
