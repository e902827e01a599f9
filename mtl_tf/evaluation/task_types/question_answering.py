"""Question answering: a text for each question; see `answer_scoring`."""

from mtl_tf.evaluation.task_types.answer_scoring import AnswerScoring

TYPE = AnswerScoring()
