"""WOZ 2.0: dialogues about restaurants, whose state is tracked."""
