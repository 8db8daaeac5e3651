"""Losses to train with: weighted, reduced and collected, or over a sample of many classes."""
