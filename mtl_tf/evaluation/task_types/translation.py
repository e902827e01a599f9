"""Translation: corpus scores by sacrebleu."""

from typing import Any

import numpy as np

from mtl_tf.evaluation import translation_metrics
from mtl_tf.evaluation.mistakes import Mistake
from mtl_tf.evaluation.scoring import (
    Scorer,
    Scoring,
    TaskPredictions,
    check_length,
)
from mtl_tf.text.translation import languages_of

#: The variant of predictions and labels with words outside the training
#: vocabulary replaced, for the scoring of Dong et al. (2015).
RESTRICTED = "restricted"


class TranslationScorer(Scorer):
    """Scores translations as one corpus."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {
            name: translation_metrics.get(name) for name in task.metrics
        }
        self._texts = (list(task.predictions), list(task.labels))
        self._restricted = task.variants.get(RESTRICTED)
        language = languages_of(task.name)[1]
        self._settings = (task.settings.get("bleu_tokenizer", ""), language)
        self.size = len(task.labels)
        check_length(task.name, "predictions", self._texts[0], self.size)
        for side in self._restricted or ():
            check_length(task.name, RESTRICTED, side, self.size)

    def _scores(self, selection: np.ndarray) -> dict[str, Any]:
        numbers = np.arange(self.size)[selection]

        def part(texts):
            return [[side[n] for n in numbers] for side in texts]

        texts = part(self._texts)
        scores = {
            name: metric(*texts, *self._settings)
            for name, metric in self._metrics.items()
        }
        if self._restricted:
            metric, texts = translation_metrics.bleu_lc, part(self._restricted)
            scores["paper_bleu"] = metric(*texts, *self._settings)
        return scores

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`; also "paper_bleu", if it is asked for."""
        examples = len(np.arange(self.size)[selection])
        scores = {
            name: score.value if examples else None
            for name, score in self._scores(selection).items()
        }
        return {"examples": examples, **scores}

    def details(self) -> dict[str, Any]:
        """sacrebleu's signature of each score."""
        scores = self._scores(np.zeros(self.size, bool))
        signatures = {name: score.signature for name, score in scores.items()}
        return {"signatures": signatures}


class TranslationScoring(Scoring):
    """A text for each source."""

    scorer = TranslationScorer
    titles = {
        "bleu": "BLEU",
        "bleu_lc": "BLEU, no case",
        "chrf": "chrF",
        "paper_bleu": "paper BLEU",
    }
    measure = "chrF"

    def mistakes(self, task: TaskPredictions) -> list[Mistake]:
        """Translations that are not the reference, the lowest chrF first.

        BLEU says little of a single sentence.
        """
        mistakes = [
            Mistake(
                number,
                label,
                prediction,
                translation_metrics.chrf([prediction], [label]).value,
            )
            for number, (prediction, label) in enumerate(
                zip(task.predictions, task.labels, strict=True)
            )
            if prediction != label
        ]
        return sorted(mistakes, key=lambda mistake: mistake.measure)


TYPE = TranslationScoring()
