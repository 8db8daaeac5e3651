"""Derivatives made of `gradients`: Jacobians, Hessians, products with them, implicit derivatives."""
