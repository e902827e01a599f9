"""The mixture of a pointer decoder: vocabulary words and copied words.

A mixture holds what `PointerDecoder` computes from states: the attention
weights "context" and, if words are copied from the question, "question",
`[..., U, L]`; and the logits of its switches, "generate" and then
"copy_context", `[..., U]`.
"""

from collections.abc import Mapping

import tensorflow as tf

from mtl_tf.layers.beam_search import Candidates

_NEVER = float("-inf")
# Less than the smallest share of any word that can be written. It keeps the
# logarithm finite for words that are in no text.
NOTHING = 1e-30
_POINTERS = ("context", "question")

Tensors = Mapping[str, tf.Tensor]


def shares(mixture: Tensors) -> tf.Tensor:
    """The switches as shares of vocabulary, context, question, `[..., 3]`.

    Args:
        mixture: see the module.
    """
    generate = tf.sigmoid(mixture["generate"])
    context = 1.0 - generate
    question = tf.zeros_like(context)
    if "question" in mixture:
        switch = tf.sigmoid(mixture["copy_context"])
        context, question = context * switch, context * (1.0 - switch)
    return tf.stack([generate, context, question], -1)


def copied(mixture: Tensors, texts: Tensors, words: tf.Tensor) -> tf.Tensor:
    """Probability of words by copying: l p_c + (1 - l) p_q, `[..., U]`.

    Args:
        mixture: see the module.
        texts: see `PointerDecoder`.
        words: int32 `[..., U]`.
    """
    copies = _copies(mixture, texts, words)
    if "question" not in mixture:
        return copies[0]
    switch = tf.sigmoid(mixture["copy_context"])
    return switch * copies[0] + (1.0 - switch) * copies[1]


def sources(
    mixture: Tensors,
    texts: Tensors,
    words: tf.Tensor,
    log_p: tf.Tensor,
    vocabulary_size: int,
) -> tf.Tensor:
    """Each source's share of a word's probability, `[..., 3]`.

    These are the terms of equation 13 divided by their sum. A word that is in
    no text comes from the vocabulary alone, whatever the switches say.

    Args:
        mixture, texts, words: see `copied`.
        log_p: the words' log probabilities, `[..., U]`.
        vocabulary_size: size of the generative vocabulary.
    """
    share = shares(mixture)
    parts = [
        share[..., number] * probability
        for number, probability in enumerate(_copies(mixture, texts, words), 1)
    ]
    vocabulary = tf.maximum(tf.exp(log_p) - tf.add_n(parts), 0.0)
    vocabulary = tf.where(words >= vocabulary_size, 0.0, vocabulary)
    if "question" not in mixture:
        parts.append(tf.zeros_like(vocabulary))
    all_parts = tf.stack([vocabulary, *parts], -1)
    total = tf.reduce_sum(all_parts, -1, keepdims=True)
    return all_parts / tf.maximum(total, NOTHING)


def log_sum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """`log(exp(a) + exp(b))`."""
    return tf.reduce_logsumexp(tf.stack([a, b]), 0)


def first_places(ids: tf.Tensor) -> tf.Tensor:
    """The first place of the word at each place, int32 `[N, S]`.

    Args:
        ids: words, int32 `[N, S]`.
    """
    # Comparing all places with one another would need their square in memory.
    order = tf.argsort(ids, stable=True)
    ordered = tf.gather(ids, order, batch_dims=1)
    is_new = tf.not_equal(ordered[:, 1:], ordered[:, :-1])
    word = tf.pad(tf.cumsum(tf.cast(is_new, tf.int32), 1), [[0, 0], [1, 0]])
    rows, places = tf.unstack(tf.shape(ids))
    word += places * tf.range(rows)[:, None]
    first = tf.math.unsorted_segment_min(order, word, rows * places)
    back = tf.argsort(order)
    return tf.gather(tf.gather(first, word), back, batch_dims=1)


def with_copied(
    generated: Candidates,
    of_texts: Candidates,
    first: tf.Tensor,
    copied: tf.Tensor,
) -> Candidates:
    """Joins generated words and those of the texts, each of them once.

    Args:
        generated: words `[N, C]` and their log probabilities.
        of_texts: the words at all places of the texts, `[N, S]`, and their log
            probabilities of being generated.
        first: see `first_places`.
        copied: the probability of each place being copied, float32 `[N, S]`.

    Returns:
        Candidates `[N, C + S]`.
    """
    ids = of_texts.ids
    rows, places = tf.unstack(tf.shape(ids))
    # The first place of a word has the shares of all its places.
    at = first + places * tf.range(rows)[:, None]
    copied = tf.math.unsorted_segment_sum(copied, at, rows * places)
    p = tf.exp(of_texts.log_probabilities) + tf.reshape(copied, [rows, places])
    log_p = tf.math.log(tf.maximum(p, NOTHING))
    log_p = tf.where(tf.equal(first, tf.range(places)), log_p, _NEVER)
    is_in_texts = tf.reduce_any(
        tf.equal(generated.ids[:, :, None], ids[:, None]), -1
    )
    others = tf.where(is_in_texts, _NEVER, generated.log_probabilities)
    return Candidates(
        tf.concat([others, log_p], 1), tf.concat([generated.ids, ids], 1)
    )


def _copies(
    mixture: Tensors, texts: Tensors, words: tf.Tensor
) -> list[tf.Tensor]:
    """Copy probabilities of words by the attention to each text, `[..., U]`."""
    copies = []
    for name in filter(mixture.__contains__, _POINTERS):
        ids = tf.expand_dims(texts[f"{name}_ids"], -2)
        is_copy = tf.equal(words[..., None], ids)
        copies.append(tf.reduce_sum(tf.where(is_copy, mixture[name], 0.0), -1))
    return copies
