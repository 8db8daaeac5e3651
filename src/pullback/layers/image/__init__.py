"""Image pipelines: colours, framing, measures, augmentation."""
