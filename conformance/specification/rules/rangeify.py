"""The rules of ``tinygrad/schedule/rangeify.py``: stores, ranges, buffers between kernels, and their order."""

from typing import Final

# A row is one line, as in the document that is made of it.
# ruff: noqa: E501
ROWS: Final = """
1 | A store of a value of another shape than its target is refused. | earliest_rewrites | graph.C43
2 | A product of matrices by one instruction gives the values of its reduce. | WMMA | law.C1
3 | A read after an assign sees it, however movement was folded. | pm_fold_moved_after | assign.C7 law.C1
4 | Where values are stored as float16, what reads them back sees them converted. | FLOAT16 | law.C1 graph.C11 ; the switch is written as two conversions with a request to be contiguous between them
5 | Movement of an index stays within its buffer. | pm_mops | bodies.C4
6 | A value that reads its target permuted, flipped or shrunk is kept before it is stored there. | fix_store_after_hazard | assign.C1
7 | Splitting reduces can be switched off, and changes no value. | SPLIT_REDUCEOP | law.C1
8 | A reduce is split into 8 to 256 parts, at most 2**22 elements, not along an expanded axis, the first axis that fits first. | split_reduceop | splits.C1 splits.C5 ; which axis is split, and that it is none along which a value is repeated, changes no value and no number of parts
9 | The parts of a split reduce are contiguous, in the dtype that it accumulates in. | split_reduceop | splits.C2 splits.C3 splits.C4
10 | Two reshapes are one. | earliest_rewrites | movement.C2
11 | A function that is compiled before stays a call. | resolve_function | form.C12 replays.C1 graph.C17
12 | Parameters are numbered from 0 on; arguments have their number, shape and dtype. | resolve_function | variables.C8 variables.C9 variables.C10
13 | An argument that is split along another axis than its parameter is refused. | resolve_function | graph.C44 variables.C10 ; functions are of graphs on devices, where the clauses hold devices against each other; a program on placed tensors has no functions
14 | A call that does not fit is refused. | resolve_function | graph.C44
15 | One result of a tuple is the value of its place. | earliest_rewrites: GETTUPLE | graph.C30
16 | A fold over devices becomes copies and folds. | earliest_rewrites: ALLREDUCE | copies.C8 copies.C11
17 | A copy of a constant is a constant there. | pm_const_buffer_folding | no_kernel.C14
18 | A detach is erased. | earliest_rewrites | no_kernel.C8
19 | A request that the gradient be contiguous is erased. | earliest_rewrites: CONTIGUOUS_BACKWARD | graph.C18 no_kernel.C8 ; what is asked of the gradient alone is a detach here: its source's value, and no kernel
20 | A buffer of a file is moved and copied as it lies, and its parts are views. | earliest_rewrites: DISK | excluded: a file outlives the process and can only be read as a whole item; no device here is one, and no other backend has such a device
21 | A buffer of a small file system is viewed in the same way. | late_buffer_view: TINYFS | excluded: as for files: the same devices, served over a network
22 | A result is the base of a buffer. | earliest_rewrites: SINK | no_kernel.C3
23 | A view of another size that is copied is made contiguous first. | earliest_rewrites: COPY | copies.C4 copies.C5
24 | No copy goes to the device that the value is on. | earliest_rewrites: COPY | no_kernel.C13 copies.C2
25 | Equal stores are one. | earliest_rewrites: STORE | assign.C14 law.C1
26 | A store of what the buffer holds is none. | earliest_rewrites: AFTER | no_kernel.C11
27 | A store into a bitcast stores the value cast back. | earliest_rewrites: STORE of BITCAST | graph.C12 graph.C33 bodies.C3 ; a target has the dtype of its storage here, so that such a store is written as one of the value cast back
28 | A reduce over an axis without elements is its identity. | earliest_rewrites: REDUCE | no_kernel.C7 graph.C28
29 | A value without elements is a constant. | earliest_rewrites | no_kernel.C6
30 | Axes that what is stored does not depend on are gone. | cleanup_dead_axes | bodies.C8
31 | What is asked to be contiguous, or copied, is always computed. | ALWAYS_RUN_OPS | fusion.C6 copies.C7
32 | What is computed from more than three buffers is kept. | remove_bufferize | fusion.C8
33 | A value that one kernel needs in part is kept in local memory, where this costs less than ten times its size. | remove_bufferize: PCONTIG | staging.C1 staging.C2 staging.C3 ; what it costs is for the engine to weigh
34 | A stage that is indexed as it was made is a part of its source. | remove_noop_bufferize | no_kernel.C3 no_kernel.C5
35 | A constant has no stage. | pm_const_buffer_folding | no_kernel.C1
36 | A stack of equal constants is the constant. | pm_const_buffer_folding: MSTACK | no_kernel.C1
37 | A reshape passes the selection of a part and the stacking of parts, which are names of the buffers of the parts. | pm_add_buffers: MSELECT, MSTACK | sharded.C11 sharded.C27 sharded.C49 ; parts are no values of a program here: to stack them is a placement, and to select one is a shrink to it
38 | A store of a buffer into itself is nothing. | pm_remove_bufferize | no_kernel.C11
39 | A kernel has no more buffers than its device takes, its output and variables counted. | limit_bufs | fusion.C7
40 | A kernel that has too many is divided, and not refused. | limit_bufs | answer.C1 fusion.C7
41 | No buffer is without elements, or of a size that is a variable. | bufferize_to_store | no_kernel.C6 variables.C5
42 | A store into local memory has a barrier behind it. | bufferize_to_store | staging.C1
43 | Local memory is of one kernel and one group. | bufferize_to_store | staging.C2 staging.C3
44 | A stage whose extents are variables is cut to their values. | flatten_bufferize | graph.C21
45 | A write of what nobody defined is left out. | pm_add_buffers: Invalid | no_kernel.C9 ; an assign of such a value is for no_kernel.C12, which speaks in no run yet
46 | A kernel's parameters are numbered by buffer, with the greatest extents. | debuf | variables.C5
47 | A kernel does not see the value of a variable. | unbind_kernel | variables.C7
48 | Ranges and buffers of a kernel are numbered anew, so that equal kernels are one program. | renumber_range | dedup.C2 dedup.C3
49 | Constants lose the device they are for, so that equal kernels of several devices are one program. | to_define_global: CONST | dedup.C5 dedup.C3
50 | A buffer that one kernel indexes before and after its store is refused. | find_bufs | assign.C2 assign.C1 ; a schedule without such a kernel is as right as a refusal
51 | Hints of how to compile a kernel stay with the kernel. | get_contiguous | excluded: hints change no value, no node of any framework but tinygrad has them, and a schedule has no word for how its kernels are compiled
52 | A store within an open range is not a kernel. | split_store | bodies.C5
53 | A kernel's buffers are on one device. | split_store | form.C7
54 | A copy and a slice are items of their own. | split_store | copies.C1
55 | A writer waits for those that read what it overwrites. | get_kernel_graph: WAR | assign.C4 assign.C6
56 | Two stores that each need the other's old value are refused, or one value is kept. | get_kernel_graph: WAR | assign.C6
57 | Several outputs of one custom kernel do not wait for each other. | get_kernel_graph: same kernel | excluded: a custom operation has no meaning that a reference could compute, and no framework tells in a schedule which of its kernels is which; of other kernels with several outputs memory.C1 and assign.C4 ask no such wait
58 | New buffers have numbers of their own. | get_kernel_graph: LUNIQUE | form.C1
"""
