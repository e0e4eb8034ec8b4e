"""The rules of ``tinygrad/lazy.py``: lazy values, and the kernels that they become."""

from typing import Final

# A row is one line, as in the document that is made of it.
# ruff: noqa: E501
ROWS: Final = """
1 | Every level of optimisation gives the same values. | OPT | law.C1
2 | An optimised schedule has no more kernels than one for each value. | OPT | fusion.C10 order.C9
3 | Without the cache of values nothing is worth something else. | LAZYCACHE | dedup.C1 law.C1
4 | A reduce takes in its elementwise input that nothing else takes. | _ast_reduceops | fusion.C2
5 | An elementwise operation takes in a reduce below it that has as many elements and that nothing else takes. | _ast_binaryops | fusion.C3
6 | Of several reduces below it an elementwise operation takes in one only. | _ast_binaryops | fusion.C11
7 | A kernel has each base of what it reads once. | _replace_bufferops | form.C2 bodies.C2
8 | A constant is inside the kernel and is no buffer. | _replace_bufferops | no_kernel.C1 graph.C16 ; its bits are kept, where the source makes it a float
9 | A chain of movement is its root with an offset, a mask and a size. | get_movementroot | movement.C1 law.C1
10 | The variables of a kernel are sorted, each once. | vars_from_ast | variables.C1 variables.C2
11 | A value without elements becomes a constant. | create_lazybuffer | no_kernel.C6 graph.C27
12 | Values of one operation, device, dtype and sources are one value. | create_lazybuffer | dedup.C1
13 | Two buffers that were asked for empty are two. | create_lazybuffer | no_kernel.C16
14 | Two custom operations are two, even with equal sources: two draws of random numbers differ. | create_lazybuffer | excluded: a custom operation has no meaning that a reference could compute, and no framework tells in a schedule which of its kernels is which; law.C3 says what a kernel without a body may take
15 | A view has a base, and the base is no view. | LazyBuffer.__init__ | memory.C12
16 | What has no base is contiguous. | LazyBuffer.__init__ | form.C8
17 | What is realized needs no item. | LazyBuffer.schedule | no_kernel.C2
18 | For a view its base is scheduled. | LazyBuffer.schedule | no_kernel.C3
19 | An item comes after all that it reads. | LazyBuffer.schedule | order.C1
20 | The buffer of an output is taken from an input only where it is read in the order in which it is written. | LazyBuffer.schedule | assign.C1 memory.C1
21 | What is stored has the dtype of its buffer. | LazyBuffer.schedule | bodies.C3
22 | A value of an image whose rows are not of four elements is a float32. | LazyBuffer.schedule | excluded: no buffer here has elements with two indices and a pitch; it is a format of one kind of GPU, and no backend exports it
23 | A copy and other loads read contiguous values. | LazyBuffer.schedule | copies.C4
24 | A variable that would have two values in one schedule is refused. | LazyBuffer.schedule | variables.C3
25 | A value that is copied back to the device it came from is the value there. | LazyBuffer.copy_to_device | no_kernel.C15
26 | What is copied is made contiguous first. | LazyBuffer.copy_to_device | copies.C4
27 | What is loaded, and a base that is contiguous, is not made contiguous again. | LazyBuffer.contiguous | no_kernel.C5
28 | A constant that is asked to be contiguous is stored. | LazyBuffer.contiguous | fusion.C6
29 | Data that come from the host are there. | LazyBuffer.fromCPU | graph.C36
30 | A conversion converts, and a bitcast keeps bits. | LazyBuffer.cast | graph.C11 graph.C12
31 | The dtype of an operation is the greatest of those of its operands. | LazyBuffer.e | graph.C23
32 | A request to be contiguous moves past an elementwise operation. | PUSH_CONTIGUOUS | fusion.C6 law.C1
33 | A kernel has no more buffers than its device takes. | LazyBuffer.e | fusion.C7
34 | A reduce to the shape that its source has is its source. | LazyBuffer.r | no_kernel.C17
35 | A reduce is split where it has 32,768 terms or more, no extent is a variable, an extent shares a divisor of at least 16 with 256, and the stride of the axis says so. | LazyBuffer.r | splits.C1 splits.C5 ; that extents share a divisor with 256, and the stride of the axis, are how the source finds the number of parts
36 | Two stages of a reduce give the values of one. | LazyBuffer.r | law.C1 splits.C3
37 | Movement that changes nothing is its source. | LazyBuffer.reshape, pad, shrink, permute, expand, stride | no_kernel.C4
38 | Two movements of one kind are one. | LazyBuffer.reshape, pad, shrink, permute, expand | movement.C2 law.C1
39 | Strides of strides are multiplied only where that gives the same elements. | LazyBuffer.stride | law.C1
40 | A permute may be done before an expand. | LazyBuffer.permute | law.C1
41 | A permute may be done before a reshape that keeps groups of axes together. | LazyBuffer.permute | law.C1
42 | A permute may be done before a reduce. | PUSH_PERMUTES | law.C1
43 | Movement may be done before an elementwise operation that nothing else takes. | SHUFFLE_MOVEMENT_OPS | movement.C3 law.C1
44 | A pad is not done before an operation that does not give zero for zeros. | SHUFFLE_PAD_OPS | law.C1 graph.C22
45 | Movement that is done earlier changes nothing for other readers. | _push_movement_ops | law.C1
46 | A shrink stays within its source. | LazyBuffer.shrink | graph.C4 form.C10
47 | A chain of thousands of nodes is legal. | sys.setrecursionlimit | graph.C2 order.C1
48 | What is realized lets its sources go. | LazyBuffer.schedule | excluded: a schedule says who uses bytes and not which object of the host program refers to them; the time of release has no word and changes no value
49 | Several results share what they have in common. | LazyBuffer.schedule: seen | order.C9 order.C5
"""
