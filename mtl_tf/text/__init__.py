"""From strings to ids: tokenizers, vocabularies and pretrained vectors."""
