"""XLA lowering of pooling: windows that are worked on place by place, and large ones."""
