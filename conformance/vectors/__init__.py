"""The deck: frozen cases with digests of their meanings, what each shows, and the best order for any claims."""
