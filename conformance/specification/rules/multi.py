"""The rules of ``tinygrad/multi.py``: tensors in parts on several devices, and how they are folded over devices."""

from typing import Final

# A row is one line, as in the document that is made of it.
# ruff: noqa: E501
ROWS: Final = """
1 | A fold over devices refuses a shape that has a variable. | all_reduce | sharded.C8 variables.C6
2 | A fold over devices refuses parts of unequal shape. | all_reduce | collective.C20
3 | The ring is taken where it is forced, or where there are more than two devices and more than 256,000 elements; else every device copies and folds all. | all_reduce | sharded.C56
4 | The switches RING and RING_ALLREDUCE_THRESHOLD change no value. | all_reduce | sharded.C4 sharded.C5 ; tinygrad, tinygrad-ring and tinygrad-all2all are a backend for each setting, and opencl has one for each algorithm
5 | In the plain algorithm every device folds in one order, so that all hold equal bits. | all_reduce | sharded.C3 sharded.C51
6 | The plain algorithm makes n(n-1) copies. | all_reduce | copies.C8
7 | The ring's chunks are multiples of the greatest of 32, 16, 8, 4, 2, 1 that divides the elements; empty ones are left out. | all_reduce | sharded.C52
8 | Chunk i of a ring is folded from device i on, and every device sends to the next one. | all_reduce | sharded.C52 copies.C9
9 | A ring makes 2(n-1) copies of each chunk, in as many chunks as are not empty. | all_reduce | copies.C12
10 | The copies of a ring are made even where a device has the value. | all_reduce | copies.C7
11 | Chunks are put together by pads with zeros and sums, which turn -0 into 0. | all_reduce | sharded.C37 ; a zero that is moved keeps its sign here, and what tinygrad does is a divergence
12 | A tensor is cut along one axis at the bounds, and keeps its other axes whole. | to_sharded | sharded.C11 sharded.C12 sharded.C16
13 | Parts of unequal size, and parts without elements, are legal. | to_sharded | sharded.C12 sharded.C13
14 | A tensor of no part is refused. | MultiLazyBuffer.__init__ | sharded.C55
15 | Parts of several dtypes are refused. | MultiLazyBuffer.__init__ | sharded.C55
16 | A part that is not real shows in no value. | MultiLazyBuffer.real_lbs | sharded.C14
17 | Bounds are the sums of the extents of the parts before, those that are not real included. | MultiLazyBuffer.__init__ | sharded.C2
18 | The shape of a tensor counts its real parts. | MultiLazyBuffer.shape | sharded.C1 sharded.C2 sharded.C14
19 | The size of a tensor counts the elements of its real parts. | MultiLazyBuffer.size | sharded.C44 ; each element once, where the source counts every replica
20 | Bounds are given where an axis is, and nowhere else. | MultiLazyBuffer.from_sharded | sharded.C7 ; a split names its axis and its bounds together, and one without bounds is drawn
21 | Parts are copies, and do not change with what they were cut from. | MultiLazyBuffer.from_sharded | sharded.C35 sharded.C34
22 | A constant is neither copied nor stored for each part. | MultiLazyBuffer.from_sharded | sharded.C50 no_kernel.C1 no_kernel.C14
23 | A replica that is on the device already is taken from there. | MultiLazyBuffer.copy_to_device | copies.C6 sharded.C43
24 | A split tensor is brought to one device by its real parts, each at its place. | MultiLazyBuffer.copy_to_device | sharded.C35
25 | A tensor is realized where its real parts are. | MultiLazyBuffer.is_realized | sharded.C45
26 | A conversion or a bitcast is done on each part. | MultiLazyBuffer.cast | sharded.C33
27 | A constant like a tensor has the tensor's placement. | MultiLazyBuffer.const_like | sharded.C50
28 | An assign writes each part. | MultiLazyBuffer.assign | sharded.C32 sharded.C46 sharded.C47 sharded.C48
29 | An assign of another axis, shape, dtype or tuple of devices is refused. | MultiLazyBuffer.assign | sharded.C53 graph.C43 sharded.C20 ; a value that is placed otherwise than its target is moved first here, as an operand is
30 | A tensor that is made contiguous, cloned or detached keeps its value, part by part. | MultiLazyBuffer.contiguous, clone, detach | sharded.C34 sharded.C36
31 | An operation on a tensor in parts and a plain one is refused. | MultiLazyBuffer.alu | sharded.C54
32 | An operation on tensors of different tuples of devices is refused. | MultiLazyBuffer.alu | sharded.C54 graph.C45
33 | The result of an operation is placed as its last operand that has an axis. | MultiLazyBuffer.alu | sharded.C41
34 | A part of a result is real where those of all operands are; no real part at all is refused. | MultiLazyBuffer.alu | sharded.C9 sharded.C42
35 | An operand of another placement is gathered and cut again; a replica is cut. | MultiLazyBuffer.alu | sharded.C20
36 | Parts of a result that are not real are zeros of its dtype. | MultiLazyBuffer.alu | sharded.C14
37 | A fold along an axis that is not split is done on each part. | MultiLazyBuffer.r | sharded.C21
38 | A fold along the split axis is folded on each device, then over devices. | MultiLazyBuffer.r | sharded.C22
39 | A fold along an axis of which one part is real moves nothing. | MultiLazyBuffer.r | sharded.C14 sharded.C43
40 | A part without elements folds to the identity. | MultiLazyBuffer.r | sharded.C13
41 | After a reshape that axis is split which is the last with as many elements before it. | MultiLazyBuffer.reshape | sharded.C23 sharded.C41
42 | A reshape keeps the number of elements. | MultiLazyBuffer.reshape | sharded.C6
43 | A reshape that would move elements between parts is refused. | MultiLazyBuffer.reshape | sharded.C9 sharded.C42
44 | A pad of other axes is done on each part. | MultiLazyBuffer.pad | sharded.C24
45 | A pad of the split axis puts one part back among zeros: to the whole axis, and no other axis with it. | MultiLazyBuffer.pad | sharded.C49 sharded.C9
46 | A pad of an axis that is split and all real is refused. | MultiLazyBuffer.pad | sharded.C9 sharded.C42
47 | An expand of the split axis is refused. | MultiLazyBuffer.expand | sharded.C9 sharded.C25 ; computed here, where an implementation can; refusing is as right
48 | A permute carries the split axis along. | MultiLazyBuffer.permute | sharded.C26 sharded.C41
49 | A shrink of the split axis keeps it whole or takes one part, the first of those with equal bounds. | MultiLazyBuffer.shrink | sharded.C27 sharded.C41
50 | A shrink of the split axis and of another one together is refused. | MultiLazyBuffer.shrink | sharded.C9 sharded.C42
51 | A stride or a flip along the split axis is refused, and along others done on each part. | MultiLazyBuffer.stride | sharded.C28 sharded.C29 sharded.C9
"""
