"""What layers say of their weights, for all that handles weights.

A layer marks a weight where it makes it. Optimizers, `training.freeze`,
initializing from other runs and the count of parameters read the marks.
"""

import dataclasses
from typing import Any

_ATTRIBUTE = "_mtl_marks"


@dataclasses.dataclass(frozen=True)
class Marks:
    """What a weight is.

    Attributes:
        is_private: it is stacked by task, so its first axis has one slice, or
            the same number of rows, for each task.
        has_rows_of_tasks: tasks share it, but each has a row in it.
        is_wide: it has the vectors of n-grams, which have a learning rate of
            their own.
        is_pretrained: it is a pretrained encoder's.
        is_parameter: it counts as a parameter of the model.
        is_count: it has frequencies in the run's own texts.
        is_of_vocabulary: it is a table that the run's vocabulary determines.
        is_by_word_id: its rows are hashed from ids of words, so they mean the
            same only with the same vocabulary.
        label_axes: the number of its last axes that stand for labels of a task.
            A head is as wide as its task with the most labels; a run that
            starts from another one copies the part for a task's own labels.
        rate_factor: factor on the learning rate.
    """

    is_private: bool = False
    has_rows_of_tasks: bool = False
    is_wide: bool = False
    is_pretrained: bool = False
    is_parameter: bool = True
    is_count: bool = False
    is_of_vocabulary: bool = False
    is_by_word_id: bool = False
    label_axes: int = 0
    rate_factor: float = 1.0


def mark(*weights: Any, **marks: Any) -> None:
    """Changes some marks of weights.

    Args:
        *weights: instances of `keras.Variable`.
        **marks: attributes of `Marks`.
    """
    for weight in weights:
        changed = dataclasses.replace(marks_of(weight), **marks)
        setattr(weight, _ATTRIBUTE, changed)


def marks_of(weight: Any) -> Marks:
    """The marks of a weight; the defaults if nobody marked it."""
    return getattr(weight, _ATTRIBUTE, _DEFAULT)


_DEFAULT = Marks()
