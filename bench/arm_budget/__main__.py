"""bench/arm_budget: holds the Arm kernels against what their cores can do, by static analysis.

    python3 bench/arm_budget [--compiler C++] [--keep DIRECTORY]

Compiles kernels/arm for AArch64, takes the inner loops from the objects and whole tiles from a trace of
what the emulator executes, and asks models of the cores how long they take (llvm-mca; for in-order
cores the rules of inorder.py). Exit status 1 where a gate of gates.py does not hold. Needs
g++-aarch64-linux-gnu, qemu-user, llvm-19.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import cores
import gates
import instructions

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLAGS = ["-std=c++20", "-O3", "-DNDEBUG", "-ffp-contract=off"]
# As in cmake/IntaglioKernel.cmake.
ISA_FLAGS = {"dotprod": ["-march=armv8.2-a+dotprod"], "i8mm": ["-march=armv8.2-a+dotprod+i8mm"]}
SOURCES = ["kernels/arm/*.cc", "kernels/reference/*.cc", "kernels/*.cc", "pack/*.cc",
           "fixedpoint/*.cc", "bench/arm_budget/tile.cc"]


def build(compiler, directory):
    """Compiles the kernels; returns the program that runs one tile."""
    include = directory / "include"
    include.mkdir(exist_ok=True)
    if not (include / "intaglio").exists():
        (include / "intaglio").symlink_to(ROOT)
    objects = []
    for pattern in SOURCES:
        for source in sorted(ROOT.glob(pattern)):
            target = directory / (source.stem + ".o")
            flags = ISA_FLAGS.get(source.stem.split("_")[-1], [])
            subprocess.run([compiler, *FLAGS, *flags, "-I", include, "-c", source, "-o", target], check=True)
            objects.append(target)
    program = directory / "tile"
    subprocess.run([compiler, "-static", *objects, "-o", program], check=True)
    return program


def verdict(holds):
    return "ok" if holds else "TOO SLOW"


def check_loops(directory):
    """The loop of each kernel's largest tile; of loops of the same size, the best: others are remainders
    and the way of panels that hold -128."""
    print("Inner loops, MAC per cycle in the steady state, by models\n")
    print("%-18s %-5s %6s %8s %9s %7s %6s  %-9s %s" %
          ("kernel", "core", "MACs", "cycles", "MAC/cycle", "% peak", "gate", "", "others"))
    failed = 0
    for kernel, core, least in gates.LOOPS:
        loops = list(instructions.innermost_loops(instructions.disassemble(directory / (kernel + ".o"))))
        kind = kernel.split("_")[-1]
        largest = {"neon": 256, "dotprod": 512, "i8mm": 512}[kind]
        rated = [(loop.macs / cores.steady(loop.body, core), loop) for loop in loops
                 if loop.kind == kind and loop.macs >= largest]
        rate, loop = max(rated, key=lambda entry: entry[0])
        who, theirs = gates.PEERS[kind, core]
        holds = rate >= least and (theirs is None or rate >= theirs - 0.005)
        failed += not holds
        print("%-18s %-5s %6d %8.1f %9.2f %7.1f %6.1f  %-9s %s" %
              (kernel, core, loop.macs, loop.macs / rate, rate, 100 * rate / cores.CORES[core][2][kind], least,
               verdict(holds), "" if theirs is None else "%.2f %s" % (theirs, who)))
    return failed


def rate_tiles(program, kernel, form, core, tiles):
    """(instructions, cycles, share of peak) of one of the tiles that a call makes."""
    executed = instructions.trace([str(program), kernel, form, str(8 * tiles), "8", "64"], program, "max")
    cycles = cores.steady(executed, core) / tiles
    return len(executed) / tiles, cycles, 8 * 8 * 64 / cycles / cores.CORES[core][2][kernel]


def check_tiles(program):
    print("\nWhole tiles, 8 x 8, K = 64, int8 output: one a call, and of a call over sixteen, % of peak\n")
    print("%-10s %-8s %-5s %6s %8s %7s %6s  %6s %8s %7s  %-9s %s" %
          ("kernel", "rounding", "core", "insns", "cycles", "one", "gate", "insns", "cycles", "of 16", "", "others"))
    failed = 0
    for kernel, core, least in gates.TILES:
        who, theirs = gates.TILE_PEERS[kernel, core]
        for form in gates.FORMS:
            one = rate_tiles(program, kernel, form, core, 1)
            row = rate_tiles(program, kernel, form, core, 16)
            gated = least > 0 and form == gates.GATED_FORM
            holds = row[2] >= theirs and (not gated or one[2] >= least)
            failed += not holds
            print("%-10s %-8s %-5s %6d %8.1f %7.1f %6s  %6d %8.1f %7.1f  %-9s %.1f %s" %
                  (kernel, form, core, one[0], one[1], 100 * one[2], "%.0f" % (100 * least) if gated else "",
                   row[0], row[1], 100 * row[2], verdict(holds), 100 * theirs, who))
    return failed


def main():
    parser = argparse.ArgumentParser(prog="bench/arm_budget", description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="aarch64-linux-gnu-g++")
    parser.add_argument("--keep", type=pathlib.Path, help="a directory for what is compiled")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.keep or pathlib.Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        program = build(options.compiler, directory)
        failed = check_loops(directory) + check_tiles(program)
    print("\n%s" % ("every gate holds" if failed == 0 else "%d gates do not hold" % failed))
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
