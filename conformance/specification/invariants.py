"""The 87 invariants of lazy schedulers, as the sources have them, and the clauses that say each.

They are numbered as they were collected, in twelve groups. An invariant about values alone is said by the law: the
schedule that breaks it gives other values. ``proofs`` are the violations of the qualification that break it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Invariant:
    """One sentence, the ``clauses`` that say it, and the violations that show that they do."""

    text: str
    clauses: tuple[str, ...]
    proofs: tuple[str, ...]


GROUPS: Final = {
    "A order and completeness": (1, 10),
    "B no kernel": (11, 22),
    "C deduplication": (23, 26),
    "D movement identities": (27, 38),
    "E pushing movement": (39, 42),
    "F fusion": (43, 52),
    "G splitting": (53, 55),
    "H copies and devices": (56, 60),
    "I assigns and hazards": (61, 74),
    "J variables and calls": (75, 80),
    "K memory": (81, 86),
    "W well-formed kernels": (87, 87),
}
"""The first and the last invariant of each group."""

# A row is one line, as in the document that is made of it.
# ruff: noqa: E501
_ROWS: Final = """
1 | Every input is there before or an output of an earlier item. | order.C1 | reader_before_writer
2 | What is said to hold a result at the end was written; that it holds the value is the law's, where bodies are known. | order.C2 law.C1 | forgotten_result
3 | Every item serves a result, an effect or a call. | order.C3 | dead_kernel
4 | No value but an assigned one is written to the same bytes by two items. | order.C4 | shared_value_written_twice
5 | A shared contig or reduce is computed once. | order.C5 | shared_value_computed_again
6 | After a run nothing is left to schedule. | order.C6 | runs_again
7 | Several results share what they have in common. | order.C9 | shared_part_made_for_each_and_kept
8 | The order of results changes no kernel, as far as labels and bodies tell kernels apart. | order.C7 | depends_on_the_order_of_results
9 | The same graph gives the same items in a fresh process. | order.C8 | depends_on_the_process
10 | Items run in order, or in any order that hazards allow, give the eager values. | law.C1 | another_operation
11 | A constant, moved or cast too, takes no kernel. | no_kernel.C1 | -
12 | A realized buffer takes no kernel. | no_kernel.C2 | -
13 | A view of a realized buffer takes no kernel. | no_kernel.C3 | -
14 | Movement that moves nothing is its source. | no_kernel.C4 | -
15 | What is contiguous already is not made so again, and a contig that several items use is computed once, by one kernel or several. | no_kernel.C5 order.C5 | -
16 | What has no elements takes no item; a reduce of nothing is its identity. | no_kernel.C6 no_kernel.C7 | -
17 | Detach is erased. | no_kernel.C8 | -
18 | An empty buffer is filled by nobody, and two of them are two. | no_kernel.C9 no_kernel.C16 | -
19 | A variable alone takes no kernel. | no_kernel.C10 | -
20 | A store of what is there is none. | no_kernel.C11 | -
21 | A store of what nobody defined is none. | no_kernel.C12 | -
22 | No copy to the same device, of a constant, or back to where it came from. | no_kernel.C13 no_kernel.C14 no_kernel.C15 | -
23 | Nodes of one operation, sources and argument are one. | dedup.C1 | one_sum_stored_twice
24 | What differs in device, dtype, argument, base, or a bit of a constant is not one. | law.C1 law.C4 dedup.C3 | one_key_for_two_kernels zero_added
25 | Kernels that are one up to names of buffers are compiled once. | dedup.C2 | one_kernel_compiled_twice
26 | A schedule from the cache gives the values of a fresh one. | dedup.C4 | cached_for_other_data
27 | A reshape of a reshape is the last. | movement.C2 no_kernel.C3 | movement_of_movement_by_way_of_memory
28 | Pads of pads add up. | law.C1 | pads_merged_by_the_larger
29 | Shrinks of shrinks add their offsets. | law.C1 | shrinks_merged_without_the_first_offset
30 | Permutes compose in order. | law.C1 | permutes_composed_the_other_way_round
31 | An expand of an expand is the last. | movement.C2 | expand_stored_for_another_expand
32 | Strides multiply only where their signs and sizes let them. | law.C1 | strides_of_both_signs_multiplied
33 | A pad undone by a shrink is nothing, a shrink undone by a pad is not. | law.C1 no_kernel.C4 | pad_of_a_shrink_dropped
34 | A permute may be done before an expand, as the permute that it then is. | law.C1 | permute_done_after_the_expand
35 | Only what is contiguous, with its offset and its mask, is its root. | law.C1 movement.C1 | shifted_view_taken_for_contiguous reshape_as_a_kernel
36 | A reshape passes a permute only in groups of axes. | law.C1 | reshape_merged_past_a_permute
37 | A shrink is checked against its source's bounds. | form.C10 | shrink_outside_its_source
38 | A flip of a flip is nothing, and flips pass elementwise operations. | law.C1 | flip_of_a_flip_taken_for_one
39 | Movement passes elementwise operations with all their operands. | law.C1 movement.C3 | movement_lost_on_the_way_up movement_as_a_kernel
40 | A pad passes an operation only where zeros give zero. | law.C1 | pad_pushed_through_exp2 pad_pushed_through_an_added_constant
41 | A reduce over a pad sees zeros. | law.C1 | maximum_of_a_pad_begins_at_its_identity
42 | Movement that is pushed changes nothing for other consumers. | law.C1 | pushed_view_seen_by_another_consumer
43 | Elementwise operations over one space are one kernel. | fusion.C1 | sum_of_three_in_two_kernels
44 | A reduce takes in its elementwise input. | fusion.C2 | product_kept_for_its_sum
45 | A reduce takes in what is elementwise of it and as large. | fusion.C3 | activation_behind_a_sum
46 | No reduce is evaluated where it does not depend on the point. | fusion.C4 | mean_evaluated_at_each_element
47 | A reduce of a reduce takes two kernels at most. | fusion.C5 | two_reduces_in_three_kernels
48 | What is asked to be contiguous is in a buffer of its own. | fusion.C6 | barrier_fused_away
49 | A kernel has no more buffers than its device takes. | fusion.C7 | more_buffers_than_the_device_takes
50 | What touches more than three buffers is kept for several consumers. | fusion.C8 | costly_value_computed_for_each
51 | Results that are computed together take no more items than each alone, but for one for each value that they share, and have the same values. | order.C9 law.C1 | shared_part_made_for_each_and_kept
52 | Fusion makes no cycle. | order.C1 form.C6 | kernels_that_need_each_other reader_before_writer
53 | A reduce is split only where it is long and its extents are numbers. | splits.C1 | short_sum_split
54 | A split reduce gives the values of the whole. | law.C1 | parts_of_a_sum_dropped
55 | Parts are kept in the accumulation dtype, and as many as there are. | splits.C2 splits.C3 splits.C4 | parts_kept_as_halves parts_counted_wrongly folded_in_halves
56 | A kernel's buffers are on one device. | form.C7 | kernel_over_two_devices
57 | A copy has one source and one target, contiguous, on two devices. | copies.C1 copies.C2 copies.C3 copies.C4 | -
58 | A copy moves what is needed of a view and no more. | copies.C5 | -
59 | A replica that is there is not copied again. | copies.C6 | -
60 | A collective makes as many copies as its algorithm, along its edges. | copies.C8 copies.C9 | -
61 | The target of an assign is a view of a buffer, of one shape, dtype and device. | form.C5 form.C10 | -
62 | A value that reads its target elsewhere than it writes is kept first. | assign.C1 | -
63 | So are a broadcast and a reduce of the target; an update at the same place is one kernel. | assign.C1 fusion.C9 | reduced_in_place update_by_way_of_another_buffer
64 | A reused output is read in order, and by nobody later. | assign.C1 assign.C4 memory.C1 | -
65 | Who reads an old version comes before who writes the new one. | assign.C4 assign.C6 | -
66 | The later of two overlapping assigns wins. | assign.C8 assign.C5 | -
67 | A swap keeps one of the two, or is refused. | assign.C6 | swapped_without_a_third
68 | In one body of a kernel no instruction loads what an earlier one of it stored. | assign.C2 | -
69 | An assign made twice collapses or is done twice, with equal values. | assign.C14 law.C1 | -
70 | A store of a buffer's own state is none. | no_kernel.C11 | -
71 | A graph that assigns to a bitcast is malformed, and what is stored has the dtype of the buffer. | form.C5 bodies.C3 law.C1 | stored_in_another_dtype
72 | An assign is seen through every alias, and touches its view alone. | assign.C9 assign.C10 assign.C11 assign.C12 | -
73 | An assign to nothing is none. | assign.C13 | -
74 | What is read before an assign in the program is old, however late it is realized. | assign.C6 assign.C7 | -
75 | An item lists the variables that it uses, in order. | variables.C1 variables.C2 | -
76 | A variable has one value in a schedule, within its bounds. | variables.C3 variables.C4 | -
77 | With another value of a variable kernels are the same, as far as labels and bodies tell kernels apart. | variables.C7 | value_baked_into_the_kernel
78 | A symbolic buffer has room for its greatest extents. | variables.C5 | room_for_the_value_only
79 | Symbolic shapes are neither split nor sent in chunks. | variables.C6 splits.C1 | symbolic_shape_split
80 | A call fits its function, and a replay its sequence, with equal values. | variables.C8 variables.C9 variables.C10 form.C12 law.C1 | replayed_on_the_first_buffers captured_buffer_of_the_first_run
81 | Buffers that share bytes are not in use together, and copies have a lane of their own. | memory.C1 memory.C11 | copied_beside_what_is_not
82 | What others see is not planned, nor anything on a device without sub-buffers. | memory.C2 memory.C3 | -
83 | An arena is no larger than its buffers side by side, and holds all that live at once. | memory.C7 memory.C1 memory.C5 | -
84 | Values are equal with the plan and without it. | memory.C10 | plan_changes_values
85 | Planned buffers are aligned, and within their arena. | memory.C4 memory.C5 memory.C6 | -
86 | No buffer is planned on another device than its arena. | memory.C8 | -
87 | Kernels store each write once, in its dtype, in bounds, and read what they list. | bodies.C1 bodies.C2 bodies.C3 bodies.C4 bodies.C5 bodies.C6 bodies.C7 form.C11 | -
"""


def _read() -> dict[int, Invariant]:
    found: dict[int, Invariant] = {}
    for row in _ROWS.strip().splitlines():
        number, text, clauses, proofs = (part.strip() for part in row.split("|"))
        found[int(number)] = Invariant(text, tuple(clauses.split()), () if proofs == "-" else tuple(proofs.split()))
    return found


INVARIANTS: Final[dict[int, Invariant]] = _read()
"""The invariants by number. Where no proof is named every violation of a clause of it is one."""

SILENT: Final[dict[int, str]] = {
    21: "needs graphs with storage that holds nothing: each buffer of a drawn graph holds data, so that values can be "
    "compared, and what a program opens it fills",
    78: "needs one buffer for all values of a variable: the native engine allocates for the values that were asked for, "
    "and says no shape of a buffer",
}
"""The invariants that no schedule of the native engine lets a clause speak of in a default run, with the reason. Their
clauses read the schedules of others, and the violations are judged all the same."""
