"""Speed and memory benchmarks: cases, contestants, reference cells."""
