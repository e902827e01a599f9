"""Translation: corpus scores by sacrebleu."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.evaluation.metrics import translation_metrics
from mtl_tf.evaluation.mistakes import Mistake
from mtl_tf.evaluation.scoring import (
    Scorer,
    Scoring,
    TaskPredictions,
    check_length,
    repeated,
)
from mtl_tf.text.encoding.translation import languages_of

#: The variant of predictions and labels for the scoring of Dong et al. (2015):
#: words outside the training vocabulary are replaced.
RESTRICTED = "restricted"
PAPER_BLEU = "paper_bleu"
# Which forms of BLEU ignore case.
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

        texts = dict.fromkeys(task.metrics, self._texts)
        if self._restricted:
            texts[PAPER_BLEU] = self._restricted
        self._summed = {
            name: _Summed(pair, _summed_metric(name, *self._settings))
            for name, pair in texts.items()
        }

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`; also "paper_bleu", if the config asks for it."""
        numbers = np.arange(self.size)[selection]
        scores: dict[str, Any] = {"examples": len(numbers)}
        for name, summed in self._summed.items():
            scores[name] = summed.score(numbers) if len(numbers) else None
        return scores

    def details(self) -> dict[str, Any]:
        """sacrebleu's signature of each score, and a text that most have."""
        metrics = dict(self._metrics)
        if self._restricted:
            metrics[PAPER_BLEU] = translation_metrics.bleu_lc
        signatures = {
            name: metric([], [], *self._settings).signature
            for name, metric in metrics.items()
        }
        hypotheses, references = self._texts
        return {
            "signatures": signatures,
            **repeated(hypotheses, references.count),
        }


def _summed_metric(
    name: str, tokenizer: str, language: str
) -> translation_metrics.SummedBleu | translation_metrics.SummedChrf:
    if name == "chrf":
        return translation_metrics.SummedChrf()
    return translation_metrics.SummedBleu(tokenizer, language, _LOWERCASE[name])


class _Summed:
    """A corpus score of any of the texts, from the counts of each text.

    Args:
        texts: all hypotheses and references.
        metric: `translation_metrics.SummedBleu` or a similar class.
    """

    def __init__(
        self,
        texts: tuple[Sequence[str], Sequence[str]],
        metric: translation_metrics.SummedBleu | translation_metrics.SummedChrf,
    ):
        hypotheses, references = texts
        self._metric = metric
        self._counts = metric.counts(hypotheses, [[r] for r in references])

    def score(self, numbers: np.ndarray) -> float:
        return self._metric.score(self._counts[numbers])


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
        """Translations that differ from the reference, the lowest chrF first.

        BLEU is not meaningful for a single sentence.
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
