#!/usr/bin/env python3
"""check_instructions.py OBJDUMP TRACE_INSTRUCTIONS

Fails where a model that was prepared for integers only executes a floating-point instruction: one
that computes, compares, converts or rounds floating-point numbers, or any of the x87 unit. What only
moves, blends or masks bits (movaps, xorps, shufps, ...) is no arithmetic: compilers use it for
integers. Neither is cvttps2dq, with which the SSE4.1 kernel makes powers of two of exponents, for
want of variable shifts; CPUs that have it have a floating-point unit.

To be sure that it can fail, it also wants to find such instructions in the same models prepared as
usual, where the CPU has a fused multiply-add and so the engine takes it.
"""
import re
import subprocess
import sys

FLOAT = re.compile(
    r"^v?(add|sub|mul|div|sqrt|rsqrt\d*|rcp\d*|min|max|u?comi|cmp\w*|round|rndscale|reduce|range|"
    r"scalef|getexp|getmant|fixupimm|fpclass|hadd|hsub|addsub|dp|fn?m(add|sub)\w*|fmaddsub\d*|"
    r"fmsubadd\d*)(ss|sd|ps|pd|sh|ph)$"
    r"|^v?cvt(?!tps2dq$)\w*$|^f(?!ence|xsave|xrstor)\w+$")


def instructions(objdump, path):
    """address -> (mnemonic, line) of a program or library."""
    found = {}
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    prefixes = {"lock", "rep", "repz", "repnz", "bnd", "notrack", "data16", "cs", "ds", "{evex}",
                "{vex}", "rex.W"}
    for line in text.splitlines():
        match = re.match(r"^\s*([0-9a-f]+):\s+(\S.*)$", line)
        if not match:
            continue
        words = match.group(2).split()
        while len(words) > 1 and words[0] in prefixes:
            words.pop(0)
        found[int(match.group(1), 16)] = (words[0], match.group(2))
    return found


def executed(program, mode):
    """module -> addresses, from the program's output."""
    result = subprocess.run([program, mode], capture_output=True, text=True)
    print(f"{mode}: {result.stderr.strip()}")
    if result.returncode != 0:
        sys.exit(f"{program} {mode}: status {result.returncode}")
    modules = {}
    for line in result.stdout.splitlines():
        if line.startswith("module "):
            addresses = modules.setdefault(line[len("module "):], [])
        else:
            addresses.append(int(line, 16))
    return modules


def main():
    objdump, program = sys.argv[1:]
    known = {}
    hits = {}
    for mode in ("fit", "integer"):
        hits[mode] = []
        seen = 0
        for path, addresses in executed(program, mode).items():
            if path not in known:
                known[path] = instructions(objdump, path)
            for address in addresses:
                if address not in known[path]:
                    sys.exit(f"{path}: no instruction at {address:x}")
                mnemonic, line = known[path][address]
                seen += 1
                if FLOAT.match(mnemonic):
                    hits[mode].append(f"{path} {address:x}: {line}")
        print(f"{mode}: {len(hits[mode])} of {seen} distinct instructions are floating point")
        if seen < 1000:
            sys.exit("too few instructions: was anything traced?")
    for hit in hits["integer"]:
        print(hit)
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpuinfo:
        has_fma = re.search(r"^flags\s*:.*\bfma\b", cpuinfo.read(), re.MULTILINE)
    if has_fma and not hits["fit"]:
        sys.exit("no floating point found where the engine uses it")
    sys.exit(1 if hits["integer"] else 0)


main()
