"""Three tasks that are put as question answering, and small models of them."""

import json

import numpy as np

from mtl_tf.configs import base
from tests.system.random_runs import written

#: Of each task, where the words of its answers come from.
SOURCES = {"behind": "context", "reverse": "question", "mentions": "vocabulary"}
_KNOWN = [f"w{n}" for n in range(30)]


def examples(task, seed, count):
    """Examples of a task, as `qa_jsonl` has them.

    Args:
        task: "behind" asks for the two words behind "key" in the context;
            "reverse" for the question's last two words, the last one first;
            "mentions" whether "tree" stands in the context (yes or no).
        seed: of the words; of names, which occur but once, too.
        count: how many.
    """
    draw = np.random.default_rng([seed, list(SOURCES).index(task)])
    made = []
    for number in range(count):
        context, question = (draw.choice(_KNOWN, n).tolist() for n in (8, 4))
        question[0] = task
        if task == "behind":
            place = draw.integers(0, 6)
            context[place] = "key"
            # Nobody can write it who does not copy it.
            context[place + 1] = f"name{seed}x{number}"
            answer = context[place + 1 : place + 3]
        elif task == "reverse":
            answer = question[:1:-1]
        else:
            found = draw.random() < 0.5
            if found:
                context[draw.integers(0, 8)] = "tree"
            answer = ["yes" if found else "no"]
        texts = {"question": question, "context": context, "answer": answer}
        made.append({name: " ".join(part) for name, part in texts.items()})
    return made


def entries(folder, sizes, tasks=tuple(SOURCES), longer=None):
    """Config entries of tasks on files.

    Args:
        folder: where the files go.
        sizes: examples of each split.
        tasks: their names.
        longer: by task, up to how many words more its contexts have.
    """
    made = []
    for task in tasks:
        files = {}
        for seed, (split, size) in enumerate(sizes.items()):
            made_here = examples(task, seed, size)
            draw = np.random.default_rng(seed)
            for example in made_here:
                more = draw.integers(0, (longer or {}).get(task, 0) + 1)
                example["context"] += more * " w1"
            lines = map(json.dumps, made_here)
            name = f"{task}.{split}.jsonl"
            files[split] = written(folder, name, "\n".join([*lines, ""]))
        entry = {"name": task, "type": "question_answering", "files": files}
        made.append({**entry, "metrics": ["em", "nf1"]})
    return made


def config(tasks, **options):
    """A small model; `options` are fields of `model.answering`."""
    chosen = base.paper_config().to_dict()
    chosen["tasks"] = tasks
    chosen["text"]["tokenizer"] = {
        "name": "reversible",
        "lowercase": True,
        "plain_words": True,
    }
    chosen["text"]["min_count"] = 2
    chosen["pipeline"]["batch_size"] = 32
    chosen["pipeline"]["buckets"] = 1
    chosen["pipeline"]["mixing"] = {"name": "round_robin"}
    chosen["model"]["embedding_dim"] = 24
    chosen["model"]["answering"] |= {
        "units": 32,
        "feed_forward": 32,
        "heads": 2,
        "blocks": 1,
        "dropout": 0.0,
        **options,
    }
    chosen["evaluation"]["answering"]["max_length"] = 6
    optimizer = chosen["training"]["optimizer"]
    optimizer |= {"name": "adam", "learning_rate": 5e-3, "options": {}}
    chosen["training"] |= {"clip_norm": 1.0, "l2": 0.0, "jit": False}
    return chosen
