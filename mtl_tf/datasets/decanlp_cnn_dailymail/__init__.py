"""CNN/DailyMail as question answering, as in decaNLP."""
