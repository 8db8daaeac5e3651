"""Sets: distinct elements and differences."""
