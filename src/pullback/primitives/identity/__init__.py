"""Identity operations: they hand on what they get."""
