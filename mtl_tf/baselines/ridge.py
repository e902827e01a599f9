"""Linear models of numbers on TF-IDF features: ridge regression."""

from typing import Any

import numpy as np

from mtl_tf.baselines import svm
from mtl_tf.baselines.ngrams import scikit_learn
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit


class RidgeBlock(svm.Block):
    """A task whose answers are numbers, and the regression that learns them.

    Squared errors and a penalty of the squared weights (Hoerl and Kennard
    1970), which is 1 / 2C, so that C means what it means to an SVM.
    """

    def _fitted(self, rows: Any, labels: np.ndarray, penalty: float) -> Any:
        values = labels.astype(np.float64).reshape(len(labels))
        if not rows.shape[1]:
            return scikit_learn().dummy.DummyRegressor().fit(rows, values)
        model = scikit_learn().linear_model.Ridge(alpha=0.5 / penalty)
        return model.fit(rows, values)

    def _predicted(self, model: Any, rows: Any) -> np.ndarray:
        if not rows.shape[0]:
            return np.zeros(0)
        return model.predict(rows)

    def calibrate(self) -> None:
        """Does nothing: a number has no probability."""

    def probabilities(self, split: EncodedSplit, number: int) -> None:
        """None: a number has no probability."""

    def _scores(self, model: Any, rows: Any, number: int) -> None:
        """See `probabilities`."""
