"""What failed, for readers: findings, buckets, and the smallest case of each."""
