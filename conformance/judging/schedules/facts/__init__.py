"""What clauses ask of a schedule; no clause stands here.

Here: labels, subjects, writers, freedom of nodes, as functions of a schedule.
Not here: the sentences that they serve (``specs.schedules``).
"""
