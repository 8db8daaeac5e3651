"""Training: optimizers, clipping, schedules of the learning rate. Imports all but engines."""
