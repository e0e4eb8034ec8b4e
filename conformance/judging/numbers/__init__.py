"""Results of rounded arithmetic judged without a tolerance."""
