"""Taylor-mode automatic differentiation: derivatives of high order along a curve, at a cost polynomial in the order."""
