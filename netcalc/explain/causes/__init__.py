"""What a transfer waited for: one cause for each gap and each round, and the verdict on them."""
