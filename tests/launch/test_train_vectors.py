import pytest

from launch import train_vectors
from mtl_tf.pipelines.examples import encoding
from mtl_tf.tasks import registry
from mtl_tf.text.vectors.vectors import load_vectors
from tests.datasets.corpora import line, make_fdu_mtl
from tests.launch import helpers


def run(capsys, *arguments):
    return helpers.run(capsys, train_vectors.PROGRAM, *arguments)


@pytest.fixture
def corpus(tmp_path):
    train = b"".join(line(i % 2, f"books word{i % 7} .") for i in range(400))
    train += b"".join(line(i % 2, "onlyvalidation here") for i in range(200))
    test = line(0, "onlytest text") + line(1, "onlytest again")
    manual = make_fdu_mtl(
        tmp_path / "manual",
        train=train,
        test=test,
        unlabel=b"OnlyTest, text!\nAn Unlabelled, text.\nan unlabelled one\n",
    )
    return [f"--manual_dir={manual}", f"--data_dir={tmp_path / 'data'}"]


def words_of(path):
    return [row.split(" ")[0] for row in path.read_text().splitlines()[1:]]


@pytest.mark.extended
def test_vectors_of_a_task(capsys, tmp_path, corpus):
    pytest.importorskip("gensim")
    output = tmp_path / "new" / "vectors.txt"
    arguments = [
        "--tasks=fdu_mtl/books",
        f"--output={output}",
        "--epochs=1",
        "--dimension=8",
        *corpus,
    ]
    status, out, _ = run(capsys, *arguments)
    assert not status
    words = words_of(output)
    assert out == f"{len(words)} vectors of 8 numbers in {output}\n"
    assert {"books", "word0", ".", "an", "unlabelled"} == {
        word for word in words if word not in [f"word{i}" for i in range(1, 7)]
    }
    first = output.read_bytes()
    run(capsys, *arguments)
    assert output.read_bytes() == first
    run(capsys, *arguments, "--seed=1")
    assert output.read_bytes() != first


@pytest.mark.extended
def test_a_run_finds_its_words(capsys, tmp_path):
    pytest.importorskip("gensim")
    output = tmp_path / "vectors.txt"
    data = str(tmp_path / "data")
    status, _, _ = run(
        capsys,
        "--config=quickstart",
        "--config.model.embedding_dim=6",
        "--min_count=1",
        "--algorithm=cbow",
        "--epochs=1",
        f"--output={output}",
        f"--data_dir={data}",
    )
    assert not status
    from mtl_tf.configs import base

    text = base.paper_config().to_dict()["text"]
    tasks = registry.resolve(["sample_reviews"], data)
    vocabulary = encoding.build_encoder(tasks, text).vocabulary
    _, report = load_vectors(str(output), vocabulary, 6, seed=0)
    assert len(report.found_tokens) == len(vocabulary) - 2


@pytest.mark.extended
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tasks=fdu_mtl"], "--output is missing"),
        (["--output=x.txt"], "give --tasks or --config"),
        (["--output=x", "--config.seed=3"], "give --tasks or --config"),
        (["--tasks=fdu_mlt", "--output=x"], "did you mean 'fdu_mtl'"),
        (["--config=quikstart", "--output=x"], "did you mean 'quickstart'"),
    ],
)
def test_mistakes(capsys, tmp_path, monkeypatch, arguments, message):
    pytest.importorskip("gensim")
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments, f"--data_dir={tmp_path}")
    assert status == 1 and not out
    assert message in err


@pytest.mark.parametrize("wrong", ["--epochs=0", "--dimension=-4"])
def test_wrong_numbers_are_told_before_the_texts_are_read(
    capsys, tmp_path, wrong
):
    output = f"--output={tmp_path / 'x'}"
    status, _, err = run(capsys, "--tasks=sample_reviews", output, wrong)
    assert status == 1
    assert err.startswith(f"error: flag {wrong}: ") and err.count("\n") == 1


def test_without_gensim(capsys, tmp_path, monkeypatch):
    from mtl_tf.core.errors import ConfigError
    from mtl_tf.text.vectors import learning

    def missing():
        raise ConfigError("no gensim")

    monkeypatch.setattr(learning, "require", missing)
    status, _, err = run(
        capsys, "--tasks=sample_reviews", f"--output={tmp_path / 'x'}"
    )
    assert status == 1 and "no gensim" in err
