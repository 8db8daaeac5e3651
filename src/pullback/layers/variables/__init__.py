"""Variables by name, and the initializers that give them their first values."""
