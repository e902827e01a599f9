"""What exports are asked, and how their answers are compared."""

from export import c_loader_process, task_types

TEXTS = ["the yes tree no stone", "", "no a yes of", "unseen words yes no", "x"]


def assert_scores(answers, expected, tolerance=1e-5):
    assert [a["label"] for a in answers] == [e["label"] for e in expected]
    for answer, wanted in zip(answers, expected):
        assert set(answer["scores"]) == set(wanted["scores"])
        for label, score in wanted["scores"].items():
            assert abs(answer["scores"][label] - score) <= tolerance


def ask_each(version, calls, task_type="classification"):
    """What `check.ask` answers to calls (task, texts), from one process."""
    row_of = task_types.of(task_type).row
    requests = [
        {"signature": task, "inputs": {"text": texts}} for task, texts in calls
    ]
    found = c_loader_process.run_in_c_loader(version, requests)["answers"]
    return [
        [
            row_of({name: v[row] for name, v in one["outputs"].items()})
            for row in range(len(texts))
        ]
        for one, (_, texts) in zip(found, calls)
    ]
