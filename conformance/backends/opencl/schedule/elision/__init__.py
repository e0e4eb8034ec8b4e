"""What need not be computed or copied by a kernel of its own, because another writes it where it has to be."""
