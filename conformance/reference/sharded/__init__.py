"""What programs on sharded tensors mean, and how the source ``tinygrad.multi`` places what they compute."""
