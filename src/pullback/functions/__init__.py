"""Python functions that become graphs: `function`, and derivatives of functions."""
