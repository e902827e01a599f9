"""Packaging: rooms under `mtl_tf`, programs at `mtl_tf.launch` and `.export`.

In a checkout the programs are the packages `launch` and `export`. Those names
are too general for a shared site-packages, so an installation has them inside
`mtl_tf`, and nothing else at its top level.
"""

import pathlib
import re

import setuptools

ROOT = pathlib.Path(__file__).parent

# Folder of the checkout -> package of an installation.
ROOTS = {
    "mtl_tf": "mtl_tf",
    "launch": "mtl_tf.launch",
    "export": "mtl_tf.export",
}

PROGRAMS = {
    "mtl-prepare-data": "mtl_tf.launch.prepare_data",
    "mtl-train-vectors": "mtl_tf.launch.train_vectors",
    "mtl-pretrain": "mtl_tf.launch.pretrain",
    "mtl-data-service": "mtl_tf.launch.data_service",
    "mtl-train": "mtl_tf.launch.train",
    "mtl-evaluate": "mtl_tf.launch.evaluate",
    "mtl-predict": "mtl_tf.launch.predict",
    "mtl-baseline": "mtl_tf.launch.baseline",
    "mtl-benchmark": "mtl_tf.launch.benchmark",
    "mtl-compare": "mtl_tf.launch.compare",
    "mtl-calibrate": "mtl_tf.launch.calibrate",
    "mtl-ensemble": "mtl_tf.launch.ensemble",
    "mtl-analyse": "mtl_tf.launch.analyse",
    "mtl-transfer": "mtl_tf.launch.transfer",
    "mtl-sweep": "mtl_tf.launch.sweep",
    "mtl-reproduce": "mtl_tf.launch.reproduce",
    "mtl-figures": "mtl_tf.launch.figures",
    "mtl-export": "mtl_tf.export.saved_model",
    "mtl-check": "mtl_tf.export.check",
}

# The oldest Python that every requirement's oldest admitted version runs on.
PYTHON = ">=3.11"

# The versions that were run stand in the README under "Versions". Some lower
# bounds are older than those: that they suffice has not been tried.
REQUIREMENTS = [
    "absl-py>=2.1",
    "importlib_resources>=6.4",  # tensorflow-datasets needs it, undeclared
    "keras>=3.15.1",
    "keras-hub>=0.32",  # how texts are split into byte pairs
    "h5py>=3.11",  # Keras has it, too: weights of presets.
    "keras-nlp>=0.32",
    "ml_collections>=1.0",
    "numpy>=1.26",
    "protobuf>=5.28",
    "rouge-score>=0.1.2",
    "sacrebleu>=2.4",
    "sentencepiece>=0.2",
    "seqeval>=1.2.2",
    "tensorboard>=2.19",  # tf.summary needs it, tensorflow does not
    "tensorflow>=2.21",
    "tensorflow-datasets>=4.9.10",
    "tensorflow-text>=2.21,!=2.21.0",  # 2.21.0 breaks keras-hub's tokenizers
]

EXTRAS = {
    "beam": ["apache-beam>=2.60"],  # several workers prepare a dataset
    "baselines": ["scikit-learn>=1.4", "scipy>=1.11"],
    "dev": [
        "dill>=0.3.8",  # tfds.testing needs it, undeclared
        "hypothesis>=6.100",
        "packaging>=24",
        "pandas>=2.1",  # own data may come as its frames
        "pytest>=8.2",
        "pytest-xdist>=3.6",
        "pyyaml>=6.0",  # the manifests of docs/
        "ruff>=0.17,<0.18",  # its format changes between minor versions
        "setuptools>=70.1",  # the first with a bdist_wheel of its own
    ],
    "docs": ["pdoc>=15"],  # pages of the docstrings
    "encoders": ["safetensors>=0.4"],  # keras_hub needs it, undeclared
    "figures": ["matplotlib>=3.8"],
    "gpu": ["tensorflow[and-cuda]>=2.21"],
    "serving": ["grpcio>=1.60", "tensorflow-serving-api>=2.21"],
    "trackers": ["mlflow-skinny>=2.14", "wandb>=0.17"],
    "vectors": ["gensim>=4.4"],
}
# The tests run all of the product but what needs a GPU or a server.
for _name in ("baselines", "docs", "encoders", "figures", "vectors"):
    EXTRAS["dev"] += EXTRAS[_name]


def version() -> str:
    text = (ROOT / "mtl_tf" / "core" / "version.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE).group(1)


def packages() -> dict[str, str]:
    """Package -> folder, for every folder that holds an `__init__.py`."""
    found = {}
    for folder, package in ROOTS.items():
        found[package] = folder
        for name in setuptools.find_packages(folder):
            path = name.replace(".", "/")
            found[f"{package}.{name}"] = f"{folder}/{path}"
    return found


def main() -> None:
    setuptools.setup(
        name="mtl_tf",
        version=version(),
        description="Multi-task NLP with TensorFlow 2 and Keras 3",
        long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
        long_description_content_type="text/markdown",
        license="Apache-2.0",
        license_files=["LICENSE"],
        classifiers=[
            "Development Status :: 3 - Alpha",
            "Intended Audience :: Science/Research",
            "Operating System :: POSIX :: Linux",
            "Programming Language :: Python :: 3",
            "Programming Language :: Python :: 3 :: Only",
            "Topic :: Scientific/Engineering :: Artificial Intelligence",
            "Typing :: Typed",
        ],
        python_requires=PYTHON,
        packages=sorted(packages()),
        package_dir=packages(),
        package_data={
            "": ["CITATIONS.bib", "README.md", "TAGS.txt", "checksums.tsv"],
            "mtl_tf": ["py.typed"],
        },
        install_requires=REQUIREMENTS,
        extras_require=EXTRAS,
        entry_points={
            "console_scripts": [
                f"{program} = {module}:run"
                for program, module in PROGRAMS.items()
            ]
        },
    )


# Build backends run this file as a module of their own naming.
if __name__ != "read":
    main()
