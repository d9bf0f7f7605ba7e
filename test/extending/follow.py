#!/usr/bin/env python3
"""Follows docs/extending.md to the letter: a toy kernel, a toy stage and a toy operator.

  follow.py SOURCE LIBRARIES COMPILER FOLDER

The script copies the tree to FOLDER and changes the copy as the document says. It quotes each step, so a
step that is reworded fails here until somebody has followed it again. CMake configures the copy. Only the
files that the steps changed are compiled; the rest comes from the archives in LIBRARIES, which were built
from SOURCE. Then the programs beside this script are linked and run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOMS = ("cmake", "fixedpoint", "pipeline", "pack", "kernels", "gemm", "nn")


class Tree:
    """The copy of the source tree."""

    def __init__(self, source, root):
        self.root = root
        self.steps = " ".join((source / "docs/extending.md").read_text().split())
        self.changed = set()
        shutil.rmtree(root, ignore_errors=True)
        for room in ROOMS:
            shutil.copytree(source / room, root / room)
        for name in ("CMakeLists.txt", "LICENSE"):
            shutil.copy(source / name, root / name)

    def step(self, text):
        """Fails unless the document has this text."""
        if " ".join(text.split()) not in self.steps:
            sys.exit(f"docs/extending.md no longer says: {text}")

    def write(self, path, text):
        (self.root / path).write_text(text)
        self.changed.add(path)

    def edit(self, path, *changes):
        """Makes each change, a pair of a pattern and its replacement, exactly once or more."""
        text = (self.root / path).read_text()
        for pattern, replacement in changes:
            text, count = re.subn(pattern, replacement, text)
            if count == 0:
                sys.exit(f"{path}: there is no {pattern}")
        self.write(path, text)


def add_kernel(tree):
    tree.step("Copy `kernels/reference/int8_scalar.cc` to `kernels/<arch>/<name>_<isa>.cc`.")
    toy = "kernels/x86/int8_toy_sse41.cc"
    shutil.copy(tree.root / "kernels/reference/int8_scalar.cc", tree.root / toy)
    tree.step("Rename its structs, `kKernelScalar` and its `.name`; delete `.lookups`;")
    tree.edit(toy, (r"KernelScalar", "KernelToy"), (r"TapsScalar", "TapsToy"),
              (r'\.name = "scalar"', '.name = "toy"'), (r",\s*\.lookups = &kLookupsScalar", ""))
    tree.step("give it a panel that no other kernel has: set `kMaxVectors` to 8, for now.")
    tree.edit(toy, (r"kMaxVectors = 4", "kMaxVectors = 8"))
    tree.step("Add the name of its `kKernel...` to `kernels/kernel_table.cc`, in front of every slower kernel.")
    tree.edit("kernels/kernel_table.cc",
              (r"(INTAGLIO_ARCH_KERNELS\(ROW\)) (ROW\(kKernelScalar\))", r"\1 ROW(kKernelToy) \2"))


TOY_OPERATOR = """\
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/unary.h"

namespace intaglio::nn {
namespace {

Result<PreparedLayer> PrepareToy(const LayerView& layer, const LayerOptions&) {
  const float factor = layer.op<Toy>().factor;
  return PrepareUnary(UnaryRoutine<float, float>(layer, [factor](float x) { return factor * x; }));
}

}  // namespace

constinit const OperatorRow Toy::kRow = {.name = "TOY",
                                         .min_inputs = 1,
                                         .max_inputs = 1,
                                         .types = kFloat,
                                         .infer = InferUnary,
                                         .candidates = Candidate{"elementwise", PrepareToy}};

}  // namespace intaglio::nn
"""

TOY_FORMAT = """\
Status TranslateToy(Translation& t) {
  if (t.custom_options() == nullptr || t.custom_options()->size() != 1) return MissingOptions();
  t.set(Toy{static_cast<float>(t.custom_options()->Get(0))});
  return {};
}

Status Encode(const Toy& op, Encoding& e) {
  e.set_code_name("Toy");
  e.SetCustomOptions({static_cast<uint8_t>(op.factor)});
  return {};
}

constexpr TfliteRow kRows[] = {
    {.code = Code::CUSTOM,
     .max_version = 1,
     .read = TranslateToy,
     .op = &Toy::kRow,
     .write = WriteBy<Toy, Encode>,
     .custom_name = "Toy"},
"""


def add_operator(tree):
    tree.step("Parameters: a struct in `nn/ops/<family>/operators.h`, with the member `static const OperatorRow kRow`.")
    tree.edit("nn/ops/elementwise/operators.h",
              (r"\n}  // namespace intaglio::nn",
               "\nstruct Toy {\n  static const OperatorRow kRow;\n  float factor = 1;\n};\n\n"
               "}  // namespace intaglio::nn"))
    tree.step("Code: a file in `nn/ops/<family>/`, listed in `nn/ops/CMakeLists.txt`.")
    tree.write("nn/ops/elementwise/toy.cc", TOY_OPERATOR)
    tree.edit("nn/ops/CMakeLists.txt", (r"  elementwise/select.cc", "  elementwise/select.cc\n  elementwise/toy.cc"))
    tree.step("`.tflite`: in the family's file in `nn/formats/tflite/`, a function that reads the operator, one that "
              "writes it if it has parameters, and a row that names both.")
    tree.edit("nn/formats/tflite/elementwise.cc", (r"constexpr TfliteRow kRows\[\] = {\n", TOY_FORMAT))


def build(tree, compiler, folder):
    """Configures the copy, compiles what was changed, and returns the objects."""
    run(["cmake", "-S", str(tree.root), "-B", str(folder), "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
         "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DINTAGLIO_BUILD_TOOLS=OFF",
         "-DINTAGLIO_BUILD_EXAMPLES=OFF", "-DINTAGLIO_BUILD_TESTS=OFF", "-DINTAGLIO_BUILD_BENCH=OFF",
         "-DINTAGLIO_BUILD_C=OFF"])
    objects = {}
    for command in json.loads((folder / "compile_commands.json").read_text()):
        path = Path(command["file"]).resolve()
        if not path.is_relative_to(tree.root.resolve()):
            continue  # CMake made this file
        objects[str(path.relative_to(tree.root.resolve()))] = re.search(r" -o (\S+)", command["command"])[1]
    sources = [path for path in sorted(tree.changed) if path.endswith(".cc")]
    for path in sources:
        if path not in objects:
            sys.exit(f"{path}: CMake does not compile it")
    run(["cmake", "--build", str(folder), "--target", *(objects[path] for path in sources)])
    return [str(folder / objects[path]) for path in sources]


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def try_program(name, folder, compiler, objects, libraries, expected, **environment):
    """Links a program of this folder and runs it."""
    program = str(folder / name)
    source = str(Path(__file__).parent / f"{name}.cc")
    run([compiler, "-std=c++20", "-O1", f"-I{folder}/include", source, *objects,
         *(str(library) for library in libraries), "-pthread", "-o", program])
    printed = run([program], env={**os.environ, **environment})
    if expected not in printed:
        sys.exit(f"{name} printed\n{printed}\ninstead of {expected}")


def main():
    source, libraries, compiler, root = (sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
    tree = Tree(Path(source), root / "tree")
    folder = root / "build"
    add_kernel(tree)
    tree.step("Write a struct that can be copied.")
    tree.step("template <class R> typename R::I32 Apply(typename R::I32 x, const Place& at) const")
    tree.step("Use it: `Pipeline(AddBias{...}, YourStage{...}, CastTo<uint8_t>{})`")
    add_operator(tree)
    objects = build(tree, compiler, folder)
    engine, nn = libraries / "libintaglio_gemm.a", libraries / "libintaglio_nn.a"
    kernel = [name for name in objects if "/kernels/" in name]
    try_program("toy_product", folder, compiler, kernel, [engine], "toy: right", INTAGLIO_ISA="toy")
    try_program("toy_network", folder, compiler, objects, [nn, engine], "TOY cpu:float32/elementwise: right")


main()
