"""The graph itself: types, shapes, operations, scopes, printing. Imports nothing else of pullback."""
