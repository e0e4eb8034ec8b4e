"""The rules of ``jax/_src/lax/parallel.py``: collectives, their types, transposes, batching and lowering."""

from typing import Final

# A row is one line, as in the document that is made of it.
# ruff: noqa: E501
ROWS: Final = """
1 | psum adds what the members of a group hold, and every member gets the sum. | psum | all_reduce.C1 reduction.C1
2 | Each leaf of a tree of operands is reduced by itself. | psum | collective.C26 collective.C27 collective.C29
3 | A sum of bools counts in int32. | psum | reduction.C11 reduction.C21
4 | Names are one or a tuple, and their order counts. | psum | collective.C24
5 | Groups name every index once; others are refused. | _canonicalize_axis_index_groups | collective.C5
6 | The indices of a group are in any order, and need not be neighbours. | _replica_groups | collective.C7 collective.C8 collective.C9
7 | Groups of unequal size are legal for psum, pmax and pmin. | psum, pmax, pmin | collective.C6 collective.C15
8 | Over no axis psum, all_gather and psum_scatter give back their operand. | psum, all_gather, psum_scatter | collective.C21
9 | psum over positions adds along axes of the block too. | psum | all_reduce.C2 types.C16
10 | Positions and groups together are refused. | psum | all_reduce.C6 ; the clause gives them a meaning, and JAX's refusal is a divergence
11 | psum of a constant is the constant times the size, for any number or array. | psum: constants | reduce_constant.C1 reduce_constant.C3 all_reduce.C1 ; an array is an operand that all members hold alike
12 | psum of a constant over positions reduces it along them first. | pos_reduce | all_reduce.C2 all_reduce.C7 ; what has positions is an operand that all members hold alike
13 | The size that a constant is multiplied by is that of the first group. | psum: constants | reduce_constant.C1 collective.C15 ; the size is that of the own group here, and what JAX gives where groups are unequal is a published finding
14 | psum of an operand that has different states along its axes is refused. | psum | types.C4
15 | psum of an unreduced operand adds the contributions. | psum | types.C12 starts.C4
16 | psum of an unreduced operand over groups is not implemented. | unreduced_psum | types.C15
17 | With types a psum gives an invariant result, without types each rank has its own. | psum | types.C12 transposes.C1 transposes.C15
18 | An axis of size one is dropped from the types of operands. | remove_size_one_mesh_axis_from_type | types.C18 types.C12
19 | pmean is the sum divided by the size. | pmean | reduction.C9 reduction.C10 reduction.C13 reduction.C22
20 | pmax and pmin give the greatest and the least element. | pmax, pmin | reduction.C3 reduction.C4 reduction.C19 reduction.C20
21 | pmax and pmin over positions and groups together are refused. | pmax, pmin | all_reduce.C6 ; the clause gives them a meaning, and JAX's refusal is a divergence
22 | pargmax and pargmin give an index, the least of several, and the greatest int32 beside a NaN. | pargmax, pargmin | arg_reduce.C1 arg_reduce.C2 arg_reduce.C3 arg_reduce.C4 arg_reduce.C5
23 | pargmax and pargmin over several axes are refused. | pargmax, pargmin | collective.C24 arg_reduce.C1 ; several axes have one order of positions here, and JAX's refusal stands among the names of frameworks
24 | pbroadcast gives every member the block of the source. | pbroadcast | broadcast.C1 broadcast.C2 broadcast.C3
25 | pbroadcast is the sum of the blocks of which all but the source's are zeros. | pbroadcast | broadcast.C1 collective.C18
26 | ppermute moves blocks along pairs, and gives zeros where nothing arrives. | ppermute | permute.C1 permute.C2 permute.C3 permute.C4 permute.C5
27 | Sources and destinations of ppermute are named once. | _pcollectives_lowering_common | pairs.C1 pairs.C2
28 | They are compared modulo the group size. | _pcollectives_lowering_common | pairs.C3 pairs.C4 ; a position beyond the group is refused here, as JAX's documentation has positions
29 | Over several axes ppermute counts ranks in sorted order. | _pcollectives_lowering_common | collective.C24 ; positions count in the order of the names here, and JAX's order is a divergence
30 | psend gives a token, and its block moves along the pairs. | psend | send.C1 recv.C1 recv.C2 recv.C3 recv.C4
31 | psend and precv check names, cast their operand to varying and type what precv gives. | _psend_abstract_eval, _precv_abstract_eval | types.C12 types.C1 types.C2 types.C5
32 | psend and precv are batched as ppermute is. | psend, precv: batcher | batches.C3
33 | psend and precv are lowered to pairs of ranks, token first. | _psend_lowering_gpu, _precv_lowering_gpu | lowering.C5 lowering.C1 lowering.C18
34 | precv takes a fresh token where no psend matches. | precv | recv.C2 recv.C4 ; a recv that no send matches would wait for ever, so that it takes the token of a send, along its pairs
35 | On other platforms psend and precv are not implemented. | _psend_lowering, _precv_lowering | send.C1 ; a backend leaves them out of its claims
36 | pshuffle refuses what is no permutation. | pshuffle | shuffle.C1 shuffle.C2
37 | pswapaxes is an all_to_all whose two axes are one. | pswapaxes | all_to_all.C1 all_to_all.C2 all_to_all.C3 all_to_all.C4
38 | all_to_all refuses an extent that the size does not divide, and untiled one other than the size. | all_to_all | all_to_all.C7 all_to_all.C8
39 | all_to_all removes the split axis and inserts one at the concat axis, or divides and multiplies. | all_to_all | all_to_all.C2 all_to_all.C3 all_to_all.C9
40 | all_to_all over groups of unequal size is refused. | _all_to_all_lowering | collective.C6
41 | A collective outside any mapped context is refused. | _all_to_all_impl, _allreduce_impl | types.C1 collective.C22 ; a program that is mapped over no axis stands outside of any map
42 | ragged_all_to_all sends slices of rows by offsets and sizes, some for each member. | ragged_all_to_all | ragged_all_to_all.C1 ragged_all_to_all.C2 ragged_all_to_all.C3 ragged_all_to_all.C4 ragged_all_to_all.C5
43 | Its offsets and sizes are integers, along one axis with at least one element. | _ragged_all_to_all_effectful_abstract_eval | ragged_all_to_all.C6 ragged_all_to_all.C7
44 | Their lengths are divided by the size, and agree. | ragged_all_to_all | ragged_all_to_all.C8 ragged_all_to_all.C10
45 | The tangent of ragged_all_to_all moves the tangents of operand and output alike. | _ragged_all_to_all_jvp | pushes.C4
46 | Where both tangents are zero its tangent is zero. | _ragged_all_to_all_jvp | pushes.C4
47 | Its transpose sends cotangents back, and clears those of rows that were written over. | _ragged_all_to_all_transpose | transposes.C16
48 | Batched, it is done for every slice, also with offsets of its own. | _ragged_all_to_all_batched_collective | batches.C7 batches.C14
49 | Batched over its own axis, or with groups, it is not implemented. | _ragged_all_to_all_batched_collective | batches.C12 batches.C13 ; they have a meaning here, and who has not implemented them has no verdict
50 | axis_index is the position, row-major over several names. | axis_index | axis_index.C1 types.C12
51 | axis_size is the number of members, over one name or several. | axis_size | axis_size.C1
52 | A reduction of a constant is the same under vmap. | _constant_reduction | batches.C2 batches.C10
53 | A reduction under vmap is done for every slice; positions move along. | _reduction_with_positional_batcher | batches.C2
54 | Groups along a mapped axis are not implemented. | _batched_reduction_collective | batches.C13 ; they have a meaning here, and who has not implemented them has no verdict
55 | Replica groups of unequal size are filled up with -1. | _replica_groups_hlo | lowering.C2 lowering.C3
56 | On TPU all groups are of one size. | _allreduce_lowering | excluded: a limit of one platform that no backend here has; a backend for it says so by its claims about groups
57 | In SPMD a collective has a channel and global ids, outside of SPMD neither. | _allreduce_lowering, _all_gather_lowering, _reduce_scatter_lowering | lowering.C18 lowering.C8 ; a program here is one of a mesh, so that there is no other case
58 | The region of a lowered reduction has its operation. | _allreduce_lowering | lowering.C7
59 | A name that is not bound is refused. | _check_axis_names | types.C1 collective.C22
60 | The mesh of an operand is that of the context. | check_avals_context_mesh | sharded.C54 ; an operand on the devices of another mesh is refused where it meets one of this
61 | The sharding of a result keeps explicit axes and drops those that are reduced. | _allreduce_effectful_abstract_eval | excluded: it is about axes that are neither mapped nor left to the compiler inside a map; no program here maps a part of a mesh and places values along the rest
62 | The results of all_to_all and ragged_all_to_all have no weak type. | _all_to_all_effectful_abstract_eval | excluded: a weak type is that of a Python number, which no value of a program here is: each has a dtype
63 | The transpose of psum is by its type, over positions too. | _psum_transpose_rule | transposes.C1 transposes.C15 transposes.C17
64 | pmax and pmin have no derivative. | pmax_p, pmin_p | transposes.C13 pushes.C5
65 | The transpose of ppermute moves back, and batched it moves every slice. | _ppermute_transpose_rule, _ppermute_batcher | transposes.C3 batches.C3
66 | Along a mapped axis ppermute wants a full permutation. | _ppermute_batcher | batches.C3 ; fewer pairs have a meaning here, and JAX's refusal is a divergence
67 | The transpose of pbroadcast is the sum at the source. | _pbroadcast_transpose_rule | transposes.C9
68 | pbroadcast is batched along one axis. | _pbroadcast_batcher | batches.C6
69 | A lowered pbroadcast names the source first. | _pbroadcast_lowering | lowering.C10
70 | An all_to_all over groups of one rank is lowered to nothing. | _all_to_all_lowering | lowering.C1
71 | A lowered all_to_all names the axis it splits, the axis it joins along and how many pieces. | _all_to_all_lowering | lowering.C17
72 | A lowered all_gather names its axis; an untiled one inserts it first. | _all_gather_lowering | lowering.C17
73 | A lowered reduce_scatter names its axis; an untiled one drops it afterwards. | _reduce_scatter_lowering | lowering.C17
74 | The transpose of all_to_all sends pieces back; batched it is done over major and minor axes. | _all_to_all_transpose_rule, _all_to_all_batched_collective | transposes.C8 batches.C5 batches.C12
75 | all_gather stacks, or joins along an axis, which may be negative. | all_gather | all_gather.C1 all_gather.C2 all_gather.C3 all_gather.C4 all_gather.C5
76 | all_gather gives a varying, an invariant or a reduced result, as it is asked to. | all_gather | types.C12 types.C6
77 | all_gather to any other state is refused. | all_gather | types.C17
78 | all_gather to an invariant or reduced result over groups is refused. | all_gather | types.C15
79 | all_gather to an invariant result casts its operand, and its transpose is a slice. | all_gather_invariant | types.C2 transposes.C5
80 | all_gather to a reduced result takes an operand that varies along some of the names and is reduced along none. | _all_gather_reduced_effectful_abstract_eval | types.C6 types.C5
81 | The transpose of all_gather is by its result. | _all_gather_transpose_rule | transposes.C4 transposes.C5 transposes.C6
82 | all_gather is batched. | _all_gather_batched_collective | batches.C4
83 | psum_scatter refuses an extent that does not fit. | _reduce_scatter_effectful_abstract_eval | reduce_scatter.C6 reduce_scatter.C7
84 | psum_scatter of an unreduced operand adds the contributions. | unreduced_psum_scatter | types.C12 starts.C5
85 | psum_scatter of an unreduced operand over groups is not implemented. | unreduced_psum_scatter | types.C15
86 | psum_scatter is transposed and batched. | _reduce_scatter_transpose_rule, _reduce_scatter_collective | transposes.C7 batches.C4
87 | axis_index is lowered to a quotient and a remainder of the id, and of an axis of size one to a constant. | _build_axis_index_lowering_hlo | lowering.C6 lowering.C1
88 | The id is that of the partition in SPMD, and else that of the replica. | _build_axis_index_lowering_hlo | lowering.C19
89 | Where a mesh is manual in part, axis_index is lowered by an inner shard_map. | _axis_index_lowering | lowering.C20 lowering.C6
90 | axis_index along a mapped axis counts slices. | _axis_index_batcher | batches.C8
91 | axis_index varies along its names. | _axis_index_effectful_abstract_eval | types.C12 types.C2
92 | psum to an invariant result needs an operand that varies along some name, and takes no positions. | _psum_invariant_abstract_eval | types.C2 types.C16
93 | A cast to varying refuses what varies or is unreduced, and its transpose is a sum. | _pvary_abstract_eval, _pvary_transpose_rule | types.C3 types.C5 transposes.C10
94 | psum and psum_scatter of unreduced operands refuse what varies, is reduced or is invariant. | _unreduced_psum_abstract_eval, _unreduced_reduce_scatter_effectful_abstract_eval | types.C4 types.C5 types.C12
95 | Batching what reads or makes unreduced and reduced values is not implemented. | all_gather_reduced, unreduced_psum, preduced: batcher | batches.C1 ; it means a loop over slices here, and who has not implemented it has no verdict
96 | The casts to reduced, to unreduced and from reduced have types, and are each other's transposes. | preduced, vary_unreduced_cast, _reduced_vary_cast_abstract_eval | types.C3 transposes.C10
97 | Where types are not checked these casts do nothing. | preduced, vary_unreduced_cast, pcast | transposes.C10 lowering.C1 types.C14
98 | pcast goes from invariant to varying or reduced, from varying to unreduced, from reduced to varying. | pcast | types.C3
99 | pcast to invariant is refused. | pcast | types.C3
100 | pcast along a set of names is refused. | pcast | excluded: a program here names axes as a list, so that a set of Python cannot be written; no meaning hangs on it
101 | Where casts are not automatic a collective refuses an operand that does not vary. | collective_vma_rule | types.C2 types.C5
102 | A collective has its names as effects, which the map over them discharges. | NamedAxisEffect | types.C1 types.C11 ; an effect is how JAX remembers which names a function needs, and refuses it where they are not mapped
103 | psend and precv have the effect of one side, which control flow may have. | SingleSideCollectiveEffect | send.C1 recv.C1 ; a send alone is legal and is not left out; a program here has no control flow
104 | Ten operations can be started, and are waited for by one of six dones. | psum_start, all_gather_start, psum_scatter_start, all_to_all_start, pbroadcast_start, ppermute_start | starts.C1 starts.C3 starts.C4 starts.C5 starts.C6 starts.C7 starts.C8 starts.C9 starts.C10 starts.C11
105 | A start has the type that the operation has. | _start_abstract_eval | starts.C2
106 | A started all_gather to an invariant result, and an untiled all_to_all that is started, are refused. | all_gather_start, all_to_all_start | starts.C14 starts.C1 ; an untiled exchange that is started has a meaning here, and JAX's refusal is a divergence
107 | An untiled reduce_scatter that is started is not implemented. | _reduce_scatter_start_lowering | starts.C1 ; it has a meaning here, and who has not implemented it has no verdict
108 | A done of what is not started is refused. | _done_abstract_eval | starts.C8 starts.C9 starts.C10
109 | A start is lowered into the region of an async_start. | _start_lowering | lowering.C9
110 | A done is lowered to one async_done of its start. | async_done lowering | lowering.C21 lowering.C15
111 | Starts have no batching and no derivative. | psum_start_p and the others | starts.C12 starts.C13
"""
