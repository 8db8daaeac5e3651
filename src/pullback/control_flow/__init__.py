"""Control flow: calls, branches and loops, primitives that hold functions. Imports core, primitives, autodiff."""
