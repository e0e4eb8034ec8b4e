"""Answers that were given once, right and wrong ones, and what changed code of the judge says of them."""
