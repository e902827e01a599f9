"""Parts of the MQAN of McCann et al. (2018) in NumPy, example by example.

Everything is float64; an example has no padding: it is cut off before.
"""

import numpy as np

from tests.layers.transformer_reference import feed_forward, norm, values


def softmax(x, axis=-1):
    x = np.exp(x - x.max(axis, keepdims=True))
    return x / x.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def coattention(layer, context, question):
    """Equations 17 to 19: Q_sum, C_coa, C_sum, Q_coa without the dummies."""
    w = values(layer)
    c = np.vstack([w["context_dummy"], context])
    q = np.vstack([w["question_dummy"], question])
    s_cq = softmax(c @ q.T, axis=0)
    s_qc = softmax(q @ c.T, axis=0)
    c_sum, q_sum = s_cq.T @ c, s_qc.T @ q
    c_coa, q_coa = s_qc.T @ c_sum, s_cq.T @ q_sum
    return [x[1:] for x in (q_sum, c_coa, c_sum, q_coa)]


def attention(layer, queries, places, causal=False):
    """Equations 22 and 23 with heads of any width and no biases."""
    w = values(layer)
    width = layer.head_units
    wq, wk, wv = np.split(w["kernel"], 3, axis=1)
    read = []
    for head in range(layer.heads):
        part = slice(head * width, (head + 1) * width)
        scores = (queries @ wq[:, part]) @ (places @ wk[:, part]).T
        if causal:
            scores[np.triu_indices(len(scores), 1)] = -np.inf
        read.append(softmax(scores / np.sqrt(width)) @ places @ wv[:, part])
    return np.concatenate(read, -1) @ w["output_kernel"]


def answer_block(layer, x, context):
    """Equations 4 to 6 with post-norms."""
    x = norm(layer.own_norm, x + attention(layer.own, x, x, causal=True))
    x = norm(layer.context_norm, x + attention(layer.context, x, context))
    return norm(
        layer.feed_forward_norm, x + feed_forward(layer.feed_forward, x)
    )


def decoder_weights(layer):
    """The weights of a `PointerDecoder` by name, float64."""
    output = layer.output_layer.kernel
    own = [w for w in layer.weights if w is not output]
    named = {w.name: w for w in own} | {"output": output}
    return {name: np.array(w, np.float64) for name, w in named.items()}


def decoder_steps(w, answers, context, question):
    """Equations 7 to 12: of each step both attentions and both switches.

    Args:
        w: see `decoder_weights`.
        answers, context, question: `[U, D]`, `[L, D]`, `[M, D]`.

    Yields:
        The attention to context and question, the switches g and l, and the
        distribution over the generative vocabulary.
    """
    hidden, memory, state = (np.zeros(answers.shape[-1]) for _ in range(3))
    for answer in answers:
        fed = np.concatenate([state, hidden])
        a = answer @ w["kernel"] + fed @ w["recurrent"] + w["bias"]
        i, f, o, g = np.split(a, 4)
        memory = np.tanh(g) * sigmoid(i) + memory * sigmoid(f)
        hidden = sigmoid(o) * np.tanh(memory)
        of_context = softmax(context @ (hidden @ w["context_query"]))
        read = np.concatenate([of_context @ context, hidden])
        state = np.tanh(read @ w["context_output"])
        generate = sigmoid(
            (np.concatenate([state, hidden, answer]) @ w["generate"])[0]
        )
        of_question, copy = np.zeros(len(question)), 1.0
        if "question_query" in w:
            of_question = softmax(question @ (hidden @ w["question_query"]))
            read = np.concatenate([of_question @ question, hidden])
            other = np.tanh(read @ w["question_output"])
            read = np.concatenate([other, hidden, answer])
            copy = sigmoid((read @ w["copy_context"])[0])
        yield (
            of_context,
            of_question,
            generate,
            copy,
            softmax(w["output"] @ state),
        )


def mixtures(w, answers, context, question, ids, own_words):
    """Equations 10 and 13: distributions over the extended vocabulary.

    Args:
        w: see `decoder_weights`.
        answers, context, question: `[U, D]`, `[L, D]`, `[M, D]`.
        ids: of context and question.
        own_words: how many ids of its own the example has.

    Returns:
        `[U, v + own_words]`.
    """
    found = []
    steps = decoder_steps(w, answers, context, question)
    for of_context, of_question, generate, copy, vocabulary in steps:
        p = np.concatenate([generate * vocabulary, np.zeros(own_words)])
        for word, weight in zip(ids[0], of_context):
            p[word] += (1 - generate) * copy * weight
        for word, weight in zip(ids[1], of_question):
            p[word] += (1 - generate) * (1 - copy) * weight
        found.append(p)
    return np.array(found)
