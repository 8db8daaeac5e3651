"""Graph core: types, shapes, operations, scopes, printing. Imports nothing else of pullback."""
