"""SNLI from its official files, as question answering."""

from mtl_tf.datasets.inference import InferenceBuilder


def _names(part: str) -> tuple[str, ...]:
    official = f"snli_1.0_{part}"
    layouts = (f"{official}.jsonl", f"{official}.txt", f"{part}.tsv")
    # Samples of SNLI are the first lines of the training file.
    return (*layouts, *([f"{official}_first1000.jsonl"] * (part == "train")))


class Builder(InferenceBuilder):
    """Builds SNLI: train, validation and test."""

    FOLDERS = ("decanlp_snli", "snli", "snli_1.0")
    NAMES = {
        "train": _names("train"),
        "validation": _names("dev"),
        "test": _names("test"),
    }
    COUNTS = {"train": 549_367, "validation": 9842, "test": 9824}
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files snli_1.0_train.jsonl, snli_1.0_dev.jsonl and
    snli_1.0_test.jsonl (or those that end in .txt, or GLUE's train.tsv, dev.tsv
    and test.tsv) into manual_dir/snli/ or into manual_dir itself. See the
    README beside this builder.
    """
