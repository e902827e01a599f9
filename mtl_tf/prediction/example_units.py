"""Which examples of a split depend on each other."""

from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.task import Task


def units_of(task: Task, split: str) -> list[int] | None:
    """Numbers the examples of a split, those on one text equally.

    Args:
        task: the task. Its type says which text ties examples together, such
            as the context of questions (`TaskType.held_out_together`).
        split: the name of the split.

    Returns:
        A number for each example; None if each is a unit by itself.
    """
    together = task.task_type.held_out_together
    if not together:
        return None
    numbers: dict[bytes, int] = {}
    units: list[int] = []
    for batch in fixed(batched(task.dataset(split))):
        texts = batch[together].numpy()
        # An empty text does not tie examples together.
        keys = [
            text if text.strip() else b"%d\0" % (len(units) + place)
            for place, text in enumerate(texts)
        ]
        units += [numbers.setdefault(key, len(numbers)) for key in keys]
    return units
