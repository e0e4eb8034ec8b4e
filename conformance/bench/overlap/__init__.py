"""How well communication hides behind computation: steps of training, beside others and beside what they cost apart."""
