"""Operation families: the one list of their names, by which all rooms of the house are laid out.

A family names a file or a folder in `primitives/`, `layers/`, `engines/xla/`, `onnx/read/`, `onnx/write/` and
`tests/cases/`, and a section of the reference page. An operation belongs to one family, and so do all its parts.
"""

FAMILIES = {
    "creation": "Array creation: constants, placeholders, filled arrays, ranges, grids, one-hot, sequence masks",
    "elementwise": "Elementwise: arithmetic, powers, exponentials, trigonometry, hyperbolics, rounding, maxima, clips",
    "complex": "Complex numbers: their parts, conjugates, angles",
    "special": "Special functions: error, gamma, beta, Bessel functions, integrals",
    "logic": "Logic: comparisons, truth values, tests for NaN and infinity",
    "bitwise": "Operations on the bits of integers",
    "casting": "Conversion between dtypes",
    "shape": "Shape manipulation: reshape, broadcast, transpose, stack, concat, split, tile, pad, reverse, blocks",
    "indexing": "Indexing: slices, gather, scatter, where, masks, partitions, embedding lookup",
    "reduction": "Reductions along axes: sums, means, products, extrema and their positions, moments",
    "cumulative": "Cumulative sums, products and logarithms of sums",
    "segment": "Reductions over segments",
    "sorting": "Sorting and searching: order, the k largest, binary search",
    "sets": "Sets: distinct elements, differences",
    "counting": "Counting: occurrences, histograms, confusion matrices",
    "linalg": "Linear algebra: products, einsum, norms, solvers, decompositions, parts of matrices",
    "activations": "Activations: rectifiers, sigmoid, softplus, softmax, biases",
    "normalization": "Normalization: of batches, layers, channels, vectors; clipping by norm",
    "convolution": "Convolutions, dilation and erosion",
    "pooling": "Pooling: the largest and the mean of windows",
    "losses": "Losses: cross entropies, connectionist temporal classification, sampled classes, penalties",
    "rnn": "Recurrent networks: cells, and runs of them over time",
    "image": "Images: resizing, sampling, colours, framing, measures, patches, boxes",
    "signal": "Signals: Fourier and cosine transforms, frames, windows, spectrograms",
    "random": "Random numbers: distributions, shuffling, dropout",
    "ragged": "Ragged tensors: rows of different lengths",
    "sparse": "Sparse tensors, and rows with numbers",
    "quantization": "Quantization: rounding that derivatives look through",
    "control_flow": "Control flow: branches, loops, maps, scans, calls, Python functions",
    "tensor_array": "Arrays written and read one by one",
    "variables": "Variables: assignment, scatter updates, sharing by name, initial values, regularizers",
    "identity": "What hands its input on: identity, stops of derivatives, groups, shardings",
    "strings": "Strings: texts of numbers, joined, measured, cut, searched, hashed",
    "debugging": "Debugging: assertions, checks, printing, what is known while a graph is built",
}
"""What each has; the names are alike in NumPy, TensorFlow, jax, ONNX and SciPy where they have one."""
