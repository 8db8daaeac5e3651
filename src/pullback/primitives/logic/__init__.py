"""Logic: comparisons and truth values."""
