"""IWSLT 2016: talks (TED) in English and another language."""

_OTHERS = ("de", "cs", "fr", "ar")
# Source and target; each pair is a separate release.
CONFIGS = (
    *(f"en-{language}" for language in _OTHERS),
    *(f"{language}-en" for language in _OTHERS),
)
