"""From texts to ids and back."""
