"""Tables in files that are not text, and what to do with them."""

import os

_READERS = {
    "parquet": "read_parquet",
    "feather": "read_feather",
    "xlsx": "read_excel",
    "xls": "read_excel",
    "ods": "read_excel",
}


def advice(path: str) -> str:
    """The advice if a file's ending is that of a binary table, else ""."""
    ending = os.path.splitext(path)[1].removeprefix(".").lower()
    reader = _READERS.get(ending)
    if not reader:
        return ""
    # Not as one list, which would be read into memory as a whole.
    return (
        f"{path} is no text file: convert it to jsonl "
        f"(pandas.{reader}({path!r}).to_json('{_stem(path)}.jsonl', "
        "orient='records', lines=True))"
    )


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
