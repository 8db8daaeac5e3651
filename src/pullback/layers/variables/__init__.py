"""Variable scopes and initializers: variables by name, and what gives them their first values."""
