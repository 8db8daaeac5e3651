"""Images: resizing, sampling, patches, boxes."""
