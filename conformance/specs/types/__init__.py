"""Types of mesh axes: what typed programs are drawn from, and the clauses about them."""
