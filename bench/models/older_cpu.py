"""Copies the peers' packages such that they see a CPU with AVX2 and nothing newer. None of LiteRT, ONNX
Runtime and OpenVINO can be asked for that as a whole.

    venv/bin/python bench/models/older_cpu.py FOLDER
    PYTHONPATH=FOLDER LD_PRELOAD=build/release/bench/libolder_cpu.so INTAGLIO_ISA=avx2 \\
        venv/bin/python bench/models ...

In the copies, each CPUID becomes an instruction of the same length that no CPU knows. older_cpu.cc, the
target of that name, answers the signal that follows. Needs objdump. The copies are for measuring alone.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("onnxruntime", "ai_edge_litert", "openvino")
LEFT_OUT = shutil.ignore_patterns("*gpu_plugin*", "*npu_plugin*", "*WebGpu*", "__pycache__")
CPUID, ASKS = b"\x0f\xa2", b"\x0f\x04"    # older_cpu.cc has the latter, too


def objdump(*arguments):
    return subprocess.run(["objdump", *map(str, arguments)], text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def sections(path):
    """Address, size and place in the file of each."""
    for line in objdump("-h", path).splitlines():
        fields = line.split()
        if len(fields) >= 7 and fields[0].isdigit():
            yield int(fields[3], 16), int(fields[2], 16), int(fields[5], 16)


def hide(path):
    """Replaces each CPUID of a library; returns how many there were."""
    found = re.findall(r"^ *([0-9a-f]+):\tcpuid *$", objdump("-d", "--no-show-raw-insn", path), re.M)
    data = bytearray(path.read_bytes())
    for address in (int(text, 16) for text in found):
        place = next(address - start + offset for start, size, offset in sections(path)
                     if start <= address < start + size)
        assert data[place:place + 2] == CPUID
        data[place:place + 2] = ASKS
    path.write_bytes(data)
    return len(found)


def main(folder):
    for package in PACKAGES:
        found = importlib.util.find_spec(package)
        if found is None:
            print(f"{package} is not here")
            continue
        copy = folder / package
        shutil.copytree(Path(found.origin).parent, copy, ignore=LEFT_OUT)
        for path in sorted(copy.rglob("*.so*")):
            if path.is_file() and (count := hide(path)) > 0:
                print(f"{path.relative_to(folder)}: {count}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        sys.exit("older_cpu.py FOLDER: a folder that does not exist yet")
    main(Path(sys.argv[1]))
