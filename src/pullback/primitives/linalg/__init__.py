"""Linear algebra: products, solvers, decompositions, functions and parts of matrices."""
