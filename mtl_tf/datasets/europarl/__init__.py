"""Europarl v7: proceedings of the European Parliament (Koehn 2005)."""

# The languages that are aligned with English.
LANGUAGES = (
    *("bg", "cs", "da", "de", "el", "es", "et", "fi", "fr", "hu"),
    *("it", "lt", "lv", "nl", "pl", "pt", "ro", "sk", "sl", "sv"),
)
# Source and target; pairs from English come first.
CONFIGS = (
    *(f"en-{language}" for language in LANGUAGES),
    *(f"{language}-en" for language in LANGUAGES),
)
