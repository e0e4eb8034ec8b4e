"""What was given for programs on sharded tensors, held against what they mean."""
