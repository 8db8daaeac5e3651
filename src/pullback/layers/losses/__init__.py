"""Loss functions: weighted, reduced and collected, or over a sample of many classes."""
