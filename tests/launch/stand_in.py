"""A stand-in for a trained run: the programs need no more than this."""

import zlib

TASKS = [
    {
        "name": name,
        "kind": "classification",
        "labels": ["negative", "positive"],
        "metrics": ["accuracy", "macro_f1"],
    }
    for name in ("books", "films")
]


class Run:
    """Says `positive` where a text has "good" in it."""

    def __init__(self, tasks=None, entries=("sample_reviews",)):
        self.tasks = tasks or TASKS
        self.config = {"tasks": entries}
        self.calls = []

    def predict(self, task, texts, batch_size=64):
        self.calls.append((task, list(texts), batch_size))
        return [self._answer(task, text) for text in texts]

    def _answer(self, task, text):
        score = 0.75 + zlib.crc32(text.encode()) % 100 / 1000
        good = "good" in text
        scores = {"negative": 1 - score, "positive": score}
        if not good:
            scores = {"negative": score, "positive": 1 - score}
        return {
            "task": task,
            "label": "positive" if good else "negative",
            "scores": scores,
        }

    def evaluate(
        self, split="test", tasks=None, data_dir=None, manual_dir=None
    ):
        self.calls.append((split, tasks, data_dir, manual_dir))
        task = {
            "kind": "classification",
            "primary": "accuracy",
            "examples": 4,
            "accuracy": 75.0,
            "loss": 0.5,
        }
        names = tasks or [task["name"] for task in self.tasks]
        return {
            "split": split,
            "tasks": {name: dict(task) for name in names},
            "mean": {"overall": 75.0, "classification": 75.0},
        }
