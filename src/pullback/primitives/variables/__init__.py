"""Variables: values that a session keeps from run to run."""
