"""MultiNLI from its official files, as question answering."""

from mtl_tf.datasets.inference import InferenceBuilder


def _names(part: str, glue: str) -> tuple[str, ...]:
    official = f"multinli_1.0_{part}"
    layouts = (f"{official}.jsonl", f"{official}.txt", f"{glue}.tsv")
    return (*layouts, f"{glue}.jsonl", f"1000_{glue}_jtr.json", f"{glue}.json")


class Builder(InferenceBuilder):
    """Builds MultiNLI: train, validation_matched, validation_mismatched."""

    FOLDERS = (
        "decanlp_multi_nli",
        "multi_nli",
        "mnli",
        "multinli",
        "multinli_1.0",
    )
    NAMES = {
        "train": _names("train", "train"),
        "validation_matched": _names("dev_matched", "dev_matched"),
        "validation_mismatched": _names("dev_mismatched", "dev_mismatched"),
    }
    COUNTS = {
        "train": 392_702,
        "validation_matched": 9815,
        "validation_mismatched": 9832,
    }
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files multinli_1.0_train.jsonl,
    multinli_1.0_dev_matched.jsonl and multinli_1.0_dev_mismatched.jsonl (or
    those that end in .txt, or GLUE's train.tsv, dev_matched.tsv and
    dev_mismatched.tsv) into manual_dir/multi_nli/ or into manual_dir itself.
    See the README beside this builder.
    """
