"""Passes: functions made into equal ones that compute less. Each takes a function and returns a new one."""
