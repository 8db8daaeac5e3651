"""XLA lowering of calls, branches, callbacks and rematerialisation."""
