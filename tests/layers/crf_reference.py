"""A linear-chain CRF by enumeration of all paths, in float64."""

import itertools

import numpy as np


def allows(constraints, tags) -> bool:
    """Whether a sentence may have these label ids, one transition a time."""
    pairs = itertools.pairwise(tags)
    return not len(tags) or bool(
        constraints.start[tags[0]]
        and constraints.end[tags[-1]]
        and all(constraints.transitions[pair] for pair in pairs)
    )


def all_scores(logits, transitions, start, end):
    """All paths `[N, n]` and their scores `[N]`, -inf where forbidden."""
    length, labels = logits.shape
    paths = np.array(list(itertools.product(range(labels), repeat=length)))
    scores = logits[np.arange(length), paths].sum(1)
    scores = scores + start[paths[:, 0]] + end[paths[:, -1]]
    scores = scores + transitions[paths[:, :-1], paths[:, 1:]].sum(1)
    return paths, scores


class Reference:
    """The CRF of one task.

    Args:
        transitions, start, end: float64, as the layer's weights.
        count: the number of the task's own labels.
        constraints: `Constraints`, or None.
    """

    def __init__(self, transitions, start, end, count, constraints=None):
        parts = [transitions[:count, :count], start[:count], end[:count]]
        if constraints:
            parts = [
                np.where(allowed, part, -np.inf)
                for allowed, part in zip(constraints, parts)
            ]
        self.parts, self.count = parts, count

    def log_likelihood(self, logits, tags):
        """Of one sentence without padding, `[n, C]` and `[n]`."""
        if not len(tags):
            return 0.0
        paths, scores = all_scores(logits[:, : self.count], *self.parts)
        [place] = np.flatnonzero((paths == tags).all(1))
        return scores[place] - np.logaddexp.reduce(scores)

    def viterbi(self, logits):
        """The best path, its score, and by how much it is the best."""
        if not len(logits):
            return [], 0.0, np.inf
        paths, scores = all_scores(logits[:, : self.count], *self.parts)
        order = np.argsort(scores)
        margin = scores[order[-1]] - scores[order[-2]]
        return paths[order[-1]], scores[order[-1]], margin

    def marginals(self, logits):
        """`[n, C]`."""
        result = np.zeros(logits.shape)
        if not len(logits):
            return result
        paths, scores = all_scores(logits[:, : self.count], *self.parts)
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        for label in range(self.count):
            result[:, label] = shares @ (paths == label)
        return result

    def likely_tags(self, logits, draw):
        """A path that is not forbidden, at random."""
        if not len(logits):
            return []
        paths, scores = all_scores(logits[:, : self.count], *self.parts)
        return paths[draw.choice(np.flatnonzero(np.isfinite(scores)))]


def long_log_partition(logits, transitions, start, end):
    """The logarithm of the sum over all paths, by the forward recursion."""
    alpha = start + logits[0]
    for x in logits[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + transitions, 0) + x
    return np.logaddexp.reduce(alpha + end)
