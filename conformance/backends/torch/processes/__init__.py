"""The processes of the ranks: pools, what they are sent, what they answer, and how they end."""
