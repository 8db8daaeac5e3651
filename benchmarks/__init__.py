"""Side by side with the peers: `python -m benchmarks --help`, docs/benchmarks.md."""
