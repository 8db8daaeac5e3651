"""Layers: compositions without a primitive of their own, losses, cells, initializers, image pipelines, templates."""
