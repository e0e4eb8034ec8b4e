"""Topics about how compilers call collectives: memory of communicators, one-shot algorithms, waits that fall away."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import topic

COMMUNICATION: Final = (
    topic(
        "buffers of a communicator",
        "symmetric memory, symm_mem, registered buffers, user buffer registration, buffer registration, "
        "ncclCommRegister, ncclCommWindowRegister, ncclMemAlloc, CommBufferLayout, CommBufferType, "
        "realize_as_comm_buffer, can_realize_as_comm_buffer, communication buffer, persistent allocation, SYMM_MEM",
        "In a schedule a buffer can belong to a communicator. Collectives of this communicator alone use it, each "
        "member brings equal ones, symmetric ones at one offset, and a later iteration works on the same bytes. What "
        "held data before is copied into one. How a library registers memory is outside, and so is writing to another "
        "rank's memory.",
        "communication.C1 communication.C3 communication.C6 communication.C7 communication.C8 communication.C10 "
        "memory.C9",
    ),
    topic(
        "one shot",
        "one_shot_all_reduce, one-shot all_reduce, one_shot_all_reduce_threshold_bytes, two_shot_all_reduce, "
        "auto_select, _should_lower_as_one_shot_all_reduce, algorithm of all_reduce",
        "Where a compiler chooses an algorithm by size, all members take one, equal calls take the same, and one shot "
        "is taken for reductions, sizes and buffers for which it is on. The value is the same in any case: any tree.",
        "communication.C12 communication.C13 communication.C14 communication.C15 communication.C16 numerics.C1",
    ),
    topic(
        "waits that fall away",
        "should_skip_wait, mark_as_skip_wait, skip wait, redundant wait, wait of a blocking collective, "
        "_bufs_to_skip_wait, wait left out",
        "A wait is for what was started. A collective that a schedule calls without a handle has ended when the next "
        "item begins, and needs none: leaving it out is right. What is started is waited for, by one wait for its "
        "handle or by an edge.",
        "waits.C1 waits.C2 waits.C3 communication.C21",
    ),
    topic(
        "copies before a collective",
        "clone before all_reduce, functional collective, out of place collective, no_fuse_buffer_names, "
        "require_contiguous, constrain_to_fx_strides",
        "A collective without a target leaves its operand as it was. A compiler may do it in place of a copy, or of "
        "the operand where nothing reads it afterwards, where elements lie without gaps.",
        "collective.C2 waits.C5 waits.C6 communication.C18 communication.C19 communication.C20",
    ),
)
