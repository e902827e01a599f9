"""Which of a model's choices validation examples ask for."""

import numpy as np
import pytest

from mtl_tf.prediction.calibrating import best_choice
from mtl_tf.prediction.scored_split import score

TASK = {
    "name": "t",
    "type": "classification",
    "labels": ["no", "yes"],
    "metrics": ["accuracy"],
}
LABELS = np.array([0, 1] * 20)


def of_yes(*columns):
    yes = np.stack([np.broadcast_to(c, 40) for c in columns], 1)
    return {"choice_scores": np.stack([1 - yes, yes], -1)}


def test_what_is_sure_of_itself_wins_if_it_is_right_more_often():
    """By its loss alone it would not: one error in ten, sure as it is."""
    wrong = np.arange(40) % 10 == 0
    sure = np.where(LABELS ^ wrong, 1 - 1e-9, 1e-9)
    unsure = np.where(LABELS ^ (np.arange(40) % 4 == 0), 0.6, 0.4)
    outputs = of_yes(unsure, sure)
    own = outputs["choice_scores"][np.arange(40), :, LABELS]
    plain = -np.log(own).mean(0)
    assert plain[0] < plain[1]
    assert best_choice(TASK, LABELS, outputs) == 1


def test_of_equal_ones_the_first():
    assert best_choice(TASK, LABELS, of_yes(0.5, 0.5, 0.5)) == 0


def test_labels_that_only_other_tasks_have_are_left_out():
    """Else a multi-label task has scores of labels that it does not know."""
    right = np.where(LABELS, 0.9, 0.1)
    scores = of_yes(1 - right, right)["choice_scores"]
    filled = np.concatenate([scores, np.zeros([40, 2, 3])], -1)
    task = {**TASK, "type": "multi_label"}
    both = np.stack([1 - LABELS, LABELS], 1)
    assert best_choice(task, both, {"choice_scores": filled}) == 1


def test_numbers_are_judged_by_their_loss():
    loss = np.array([[3.0, 1.0, 2.0], [3.0, 2.0, 2.0]])
    task = {**TASK, "type": "regression", "labels": []}
    assert best_choice(task, np.zeros(2), {"choice_loss": loss}) == 1


def test_of_many_examples_some_decide(monkeypatch):
    monkeypatch.setattr("mtl_tf.prediction.calibrating._ENOUGH", 10)
    odd = np.arange(40) % 4 != 0
    # Right in the tenth part that is looked at, and wrong elsewhere.
    right = np.where(LABELS ^ odd, 0.9, 0.1)
    fair = np.where(LABELS ^ (np.arange(40) % 3 == 0), 0.6, 0.4)
    outputs = of_yes(fair, right)
    assert best_choice(TASK, LABELS, outputs) == 1
    monkeypatch.setattr("mtl_tf.prediction.calibrating._ENOUGH", 40)
    assert best_choice(TASK, LABELS, outputs) == 0


class Model:
    choices = (1.0, 0.5)

    def __init__(self):
        self.chosen = [0, 0]

    def choose(self, task, choice):
        before, self.chosen[task] = self.chosen[task], choice
        return before != choice


class Predictor:
    """Says by which choice it is asked, once it has one."""

    def __init__(self):
        self.model, self.asked = Model(), []

    def predict(self, encoded, index, batch_size, texts, choices=False):
        self.asked.append(choices)
        right = np.where(LABELS, 0.9, 0.1)
        outputs = of_yes(1 - right, right)
        scores = outputs["choice_scores"][:, self.model.chosen[index]]
        found = {"scores": scores, "prediction": scores.argmax(1)}
        outputs |= {"choice_loss": np.zeros([40, 2])}
        return found | {"loss": np.zeros(40)} | (outputs if choices else {})


@pytest.mark.parametrize("fit", [True, False])
def test_validation_examples_choose_and_are_scored_by_it(fit):
    predictor = Predictor()
    found = score(predictor, None, TASK, 1, 8, LABELS, fit=fit)
    assert predictor.model.chosen == [0, int(fit)]
    right = np.mean(found.predictions == LABELS)
    assert right == (1.0 if fit else 0.0)
    # Nothing is computed again where nothing changes.
    assert predictor.asked == [fit] * (2 if fit else 1)
    score(predictor, None, TASK, 1, 8, LABELS, fit=fit)
    assert len(predictor.asked) == (3 if fit else 2)
