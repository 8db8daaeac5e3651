"""Writers of activations."""
