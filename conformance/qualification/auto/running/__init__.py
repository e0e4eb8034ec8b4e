"""Running automatic mutants: the right answers, the stages, and the verdict on each.

Here: small cases, stages, pools, surveys and differences.
Not here: the changes (``auto.source``) and the faults (``auto.conditional``).
"""
