"""The command, the types, the documentation."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import intaglio
import numpy
import pytest
from conftest import DIGITS, ROOT

PACKAGE = Path(intaglio.__file__).parent


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "intaglio", *arguments], capture_output=True, text=True, **options
    )


def test_command():
    done = command("--version")
    assert done.returncode == 0 and intaglio.__version__ in done.stdout
    done = command("inspect", str(DIGITS / "digits.tflite"))
    assert done.returncode == 0 and "CONV_2D" in done.stdout
    done = command("run", str(DIGITS / "absent.tflite"))
    assert done.returncode != 0 and done.stderr.startswith("intaglio: ")
    assert command("wood").returncode == 2


def test_the_command_waits_for_no_numpy():
    program = "import sys, intaglio; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_version_is_that_of_cmake():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert f"project(intaglio VERSION {intaglio.__version__} " in text
    assert f'version = "{intaglio.__version__}"' in (ROOT / "pyproject.toml").read_text()


def test_everything_public_is_explained():
    things = [getattr(intaglio, name) for name in intaglio.__all__]
    for kind in (intaglio.Model, intaglio.Tensor, intaglio.Layer, intaglio.Packed, intaglio.Signature):
        things += [getattr(kind, name) for name in dir(kind) if not name.startswith("_")]
    for thing in things:
        assert inspect.getdoc(thing), thing


def test_no_other_name_leaves_the_extension():
    found = subprocess.run(
        ["nm", "-D", "--defined-only", str(PACKAGE / "_core.abi3.so")],
        capture_output=True,
        text=True,
    )
    if found.returncode != 0:
        pytest.skip("there is no nm")
    assert "PyInit__core" in found.stdout
    assert not [line for line in found.stdout.splitlines() if re.search("intaglio|protobuf", line)]


SAMPLE = """
from __future__ import annotations

import numpy

import intaglio

with intaglio.load("net.tflite", threads=2) as model:
    image = numpy.zeros(model.inputs[0].shape, model.inputs[0].dtype)
    named: dict[str, numpy.ndarray] = model.run({"image": image})
    listed: list[numpy.ndarray] = model.run([image])
    outputs = model.empty_outputs()
    model.run_into([image], outputs)
    worker: intaglio.Model = model.share()
    names: list[str] = [layer.name for layer in model.layers]
    macs: int = sum(layer.macs for layer in model.profile(runs=3).layers)
    function: intaglio.Signature = model.signature("serving_default")
    answers: dict[str, numpy.ndarray] = function(image=image)
    inputs: list[str] = model.signatures["serving_default"]["inputs"]
    model.resize({"image": (1, 2, 3, 4)})
packed: intaglio.Packed = intaglio.pack(image)
product: numpy.ndarray = intaglio.gemm(image, packed, scale=0.5, out="int8")
try:
    intaglio.load(b"")
except intaglio.LoadError as error:
    print(error)
"""

WRONG = """
import intaglio
model = intaglio.load("net.tflite", treads=2)
model.run(3)
names: list[int] = [layer.name for layer in model.layers]
"""


def test_types(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("there is no mypy")
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "_core.pyi").exists()
    (tmp_path / "sample.py").write_text(SAMPLE)
    (tmp_path / "wrong.py").write_text(WRONG)

    # mypy looks into site-packages by itself, and refuses to be told to.
    environment = dict(os.environ)
    if "site-packages" not in PACKAGE.parts:
        environment["MYPYPATH"] = str(PACKAGE.parent)

    def check(*options):
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )

    done = check("--strict", "sample.py")
    assert done.returncode == 0, done.stdout
    done = check("wrong.py")
    assert done.stdout.count("error:") == 3, done.stdout


def examples(path, language="python"):
    text = path.read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_documentation_runs(page, tmp_path, monkeypatch, images):
    (tmp_path / "digits.tflite").write_bytes((DIGITS / "digits.tflite").read_bytes())
    monkeypatch.chdir(tmp_path)
    programs = examples(ROOT / page)
    assert programs
    names = {}
    for program in programs:
        exec(compile(program, page, "exec"), names)
    assert numpy.asarray(names["scores"]).shape == (1, 10)
