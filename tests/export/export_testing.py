"""What exports are asked, and how their answers are compared."""

TEXTS = ["the yes tree no stone", "", "no a yes of", "unseen words yes no", "x"]


def assert_scores(answers, expected, tolerance=1e-5):
    assert [a["label"] for a in answers] == [e["label"] for e in expected]
    for answer, wanted in zip(answers, expected):
        assert set(answer["scores"]) == set(wanted["scores"])
        for label, score in wanted["scores"].items():
            assert abs(answer["scores"][label] - score) <= tolerance
