"""SUBJ: objective and subjective sentences, from the official files."""

from mtl_tf.datasets.class_files import ClassFilesBuilder


class Builder(ClassFilesBuilder):
    """Builds SUBJ: train and a drawn test split."""

    CORPUS = "subj"
    FOLDERS = ("subj", "rotten_imdb")
    FILES = {
        "objective": "plot.tok.gt9.5000",
        "subjective": "quote.tok.gt9.5000",
    }
    SENTENCES = 5000
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files plot.tok.gt9.5000 and quote.tok.gt9.5000 of the
    subjectivity dataset v1.0 into manual_dir/subj/ or into manual_dir itself.
    See the README beside this builder.
    """
