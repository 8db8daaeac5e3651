"""Programs for those who work on pullback."""
