"""How a program is evaluated: what is checked before an operation's function is called, and ranks that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.reference.dead_ranks import givers, stopped
from conformance.reference.divergent_ranks import Meeting
from conformance.reference.spmd import run
from conformance.specification.functions import function_lines

EVALUATING: Final[tuple[Callable[..., Any], ...]] = (run, Meeting, stopped, givers)
"""The functions of the chapter."""

TOGETHER: Final = """\
`run` evaluates the steps in list order. Of a collective it checks, before the function of the operation is called,
that the mesh has the axes that the step names (`collective.C22`), each named once (`collective.C23`), that the blocks
of an operand have one dtype (`collective.C19`) and one shape (`collective.C20`) where the operation does not let them
differ, and of an operation without operands that its groups name every position (`collective.C5`). Only the blocks of
all_to_all_uneven may differ, in their number of rows, and the tokens of recv. A program that breaks several clauses
is rejected all the same; the functions name the first that they find.
"""

APART: Final = """\
Where a step is for some ranks alone, or a rank is late or dies, `Meeting` is the meaning. Each rank runs its own
steps in list order. The members of a group meet when the next step of each of them is a collective of that group.
They go on together if they agree on the operation, the attributes, and the dtypes and shapes of the blocks. Each
member gives the block that its own step names and has the result under the name that its own step gives: the names
may differ.

A rank cannot go on when a member of the group that it waits for disagrees, has ended, or waits elsewhere and cannot
go on itself. Then the program is illegal: every rank that cannot go on raises an error. The others may have their
results (`liveness.C14`). Of what ranks can disagree on, the first in the table `CLAUSES` below names the clause.

Where a rank dies, a rank waits for it only if its own result is made of the block of the dead rank (`givers`): of a
broadcast all members wait for the root and for nobody else. A member that waits for nobody who has died may go on, and
has what it would have if nobody had died, or raises an error. In a barrier every member waits for every other.

For example, on the mesh `i = 3`

```text
y = all_reduce(x, op="sum") over i            on all ranks
z = all_reduce(x, op="max") over i, on 0      rank 0 alone
```

rank 0 cannot go on, since the ranks 1 and 2 have ended: it raises an error (`liveness.C12`). The ranks 1 and 2 return
`y` or raise an error.
"""


def evaluation_lines() -> list[str]:
    """Return the lines of the chapter."""
    return [
        "## How a program is evaluated",
        "",
        *TOGETHER.splitlines(),
        "",
        *function_lines((run,)),
        "### Ranks that run different steps",
        "",
        *APART.splitlines(),
        "",
        *function_lines((Meeting, stopped, givers)),
    ]
