"""The sizes of the benchmark's models, batches and corpora."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes for which the targets are stated; tests use small ones.

    Attributes:
        tasks: number of tasks.
        embedding: size of the word vectors.
        units: size h of a task's basic network.
        meta_units: size m of the meta network.
        meta_vector: size z of the meta vector.
        memory_tasks: number of tasks in the cases about memories.
        memory_embedding: size of the word vectors there.
        memory_slots: number of segments K of a memory.
        memory_width: size M of a segment.
        transformer_units: size of the word vectors and states there.
        transformer_layers: number of blocks.
        transformer_heads: heads of attention in a block.
        transformer_feed_forward: hidden units of a block's network.
        transformer_length: tokens per text there.
        transformer_batch: examples per step there.
        encoder_units: size of the states in the case `encoder`.
        encoder_layers: number of its layers.
        encoder_heads: heads of attention in a layer.
        encoder_length: pieces per text there.
        encoder_batch: examples per step there.
        translation_units: size of the word vectors and states there.
        translation_vocabulary: words of a language.
        translation_batch: sentences per step.
        translation_length: tokens per sentence, on both sides.
        translation_sentences: sentences translated in the case
            `beam_search`.
        mqan_vocabulary: words with a vector in the case `mqan`.
        mqan_generative: how many of them can be generated.
        mqan_embedding: size of the word vectors there.
        mqan_units: size d of the states there.
        mqan_feed_forward: hidden units of a block's network.
        mqan_heads: heads of attention in a block.
        mqan_blocks: layers of self-attention.
        mqan_batch: examples per step there.
        mqan_context: words of a context.
        mqan_question: words of a question.
        mqan_answer: words of an answer, with its end.
        vocabulary: words in the cases with synthetic batches.
        length: tokens per text in those batches.
        batches: numbers of examples per step, in the training step cases.
        corpus_vocabulary: words of the synthetic corpus.
        corpus_examples: training examples of all its tasks together.
        corpus_length: their approximate mean length in tokens.
        corpus_longest: length at which longer ones are cut.
        corpus_batch: examples per step in training on the corpus.
        buckets: padded lengths in training on the corpus.
        pipeline_steps: steps per round in the case `pipeline`.
        latency_calls: calls per round in the case `latency`.
        round_seconds: approximate time that a contestant runs per round.
        scaled: in the case `scaling`, increasing numbers of tasks, of
            classes, of words, of tokens per text, and of replicas.
    """

    tasks: int = 16
    embedding: int = 200
    units: int = 100
    meta_units: int = 40
    meta_vector: int = 40
    memory_tasks: int = 4
    memory_embedding: int = 100
    memory_slots: int = 50
    memory_width: int = 20
    transformer_units: int = 300
    transformer_layers: int = 4
    transformer_heads: int = 6
    transformer_feed_forward: int = 512
    transformer_length: int = 200
    transformer_batch: int = 50
    encoder_units: int = 384
    encoder_layers: int = 6
    encoder_heads: int = 12
    encoder_length: int = 160
    encoder_batch: int = 32
    translation_units: int = 256
    translation_vocabulary: int = 8000
    translation_batch: int = 64
    translation_length: int = 20
    translation_sentences: int = 1000
    mqan_vocabulary: int = 100_000
    mqan_generative: int = 50_000
    mqan_embedding: int = 300
    mqan_units: int = 200
    mqan_feed_forward: int = 150
    mqan_heads: int = 3
    mqan_blocks: int = 2
    mqan_batch: int = 40
    mqan_context: int = 180
    mqan_question: int = 20
    mqan_answer: int = 10
    vocabulary: int = 30_000
    length: int = 100
    batches: tuple[int, ...] = (16, 64)
    corpus_vocabulary: int = 60_000
    corpus_examples: int = 22_180
    corpus_length: int = 120
    corpus_longest: int = 400
    corpus_batch: int = 16
    buckets: int = 5
    pipeline_steps: int = 150
    latency_calls: int = 30
    round_seconds: float = 0.6
    scaled: tuple[tuple[int, ...], ...] = (
        (1, 4, 16, 64),
        (2, 100, 1000),
        (10_000, 100_000, 1_000_000),
        (25, 100, 400, 800),
        (1, 2, 4),
    )

    def of_memories(self) -> "Sizes":
        """The sizes in the cases about memories."""
        return dataclasses.replace(
            self, tasks=self.memory_tasks, embedding=self.memory_embedding
        )

    def of_transformers(self) -> "Sizes":
        """The sizes in the case about Transformers."""
        return dataclasses.replace(
            self,
            embedding=self.transformer_units,
            length=self.transformer_length,
        )

    def of_encoders(self) -> "Sizes":
        """The sizes in the case about pretrained encoders."""
        return dataclasses.replace(self, length=self.encoder_length)
