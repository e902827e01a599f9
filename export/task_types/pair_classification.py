"""Classification of pairs of texts: signatures take `text` and `text_pair`."""

from .classification import ServedClassification

TYPE = ServedClassification
