"""The specification as a document: written from the clauses, the reference functions and the worked examples."""
