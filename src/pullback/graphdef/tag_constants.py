"""Tags of the graphs of SavedModels: `saved_model.tag_constants`."""

from __future__ import annotations

SERVING = "serve"
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"
