"""MR: positive and negative review sentences, from the official files."""

from mtl_tf.datasets.class_files import ClassFilesBuilder


class Builder(ClassFilesBuilder):
    """Builds MR: train and a drawn test split."""

    CORPUS = "mr"
    FILES = {"negative": "rt-polarity.neg", "positive": "rt-polarity.pos"}
    FOLDERS = ("mr", "rt-polaritydata")
    SENTENCES = 5331
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files rt-polarity.neg and rt-polarity.pos of the sentence
    polarity dataset v1.0, or its folder rt-polaritydata/, into manual_dir/mr/
    or into manual_dir itself. See the README beside this builder.
    """
