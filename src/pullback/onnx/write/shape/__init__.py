"""Writers of shape manipulation."""
