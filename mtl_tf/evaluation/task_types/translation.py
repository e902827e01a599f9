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
PAPER_BLEU = "paper_bleu"
# Whether case does not count, of the scores that add up.
_LOWERCASE = {"bleu": False, "bleu_lc": True, PAPER_BLEU: True}


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

        names = [name for name in task.metrics if name in _LOWERCASE]
        texts = dict.fromkeys(names, self._texts)
        if self._restricted:
            texts[PAPER_BLEU] = self._restricted
        self._bleu = {
            name: _Summed(pair, *self._settings, _LOWERCASE[name])
            for name, pair in texts.items()
        }

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`; also "paper_bleu", if it is asked for."""
        numbers = np.arange(self.size)[selection]
        scores: dict[str, Any] = {"examples": len(numbers)}
        for name in dict.fromkeys([*self._metrics, *self._bleu]):
            if not len(numbers):
                scores[name] = None
            elif name in self._bleu:
                scores[name] = self._bleu[name].score(numbers)
            else:
                texts = [[side[n] for n in numbers] for side in self._texts]
                scores[name] = self._metrics[name](
                    *texts, *self._settings
                ).value
        return scores

    def details(self) -> dict[str, Any]:
        """sacrebleu's signature of each score."""
        metrics = dict(self._metrics)
        if self._restricted:
            metrics[PAPER_BLEU] = translation_metrics.bleu_lc
        return {
            "signatures": {
                name: metric([], [], *self._settings).signature
                for name, metric in metrics.items()
            }
        }


class _Summed:
    """BLEU of any of a corpus's texts; see `translation_metrics.SummedBleu`."""

    def __init__(
        self, texts: Any, tokenizer: str, language: str, lowercase: bool
    ):
        hypotheses, references = texts
        self._bleu = translation_metrics.SummedBleu(
            tokenizer, language, lowercase
        )
        self._counts = self._bleu.counts(hypotheses, [[r] for r in references])

    def score(self, numbers: np.ndarray) -> float:
        return self._bleu.score(self._counts[numbers])


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
