"""Results of rounded arithmetic judged without a tolerance.

Which orders and formats are admissible stands in the clauses of ``specs.families.reduction`` and in
``docs/numerics.md``; here is how a result is held against them.
"""
