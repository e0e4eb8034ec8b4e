"""What clauses ask of a schedule; no clause stands here."""
