"""Question answering: a text for each question; see `answer_scoring`."""

from mtl_tf.evaluation.answer_scoring import AnswerScoring

TYPE = AnswerScoring()
