"""What was given for graphs, held against what they mean."""
