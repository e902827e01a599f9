"""Speed and memory: cases, contestants, reference cells."""
