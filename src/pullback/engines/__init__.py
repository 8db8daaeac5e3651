"""Execution: plans, sessions, and the engines that do the arithmetic."""
