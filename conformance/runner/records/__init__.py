"""What a run says, as values: the records of its log, and what they are made of."""
