"""AArch64 instructions as text: disassembly, innermost loops, multiply-accumulates, traces."""
import collections
import re
import subprocess

OBJDUMP = "llvm-objdump-19"
FEATURES = "+dotprod,+i8mm"
BRANCH = re.compile(r"^(b|b\.\w+|cbz|cbnz|tbz|tbnz)\s")

Loop = collections.namedtuple("Loop", "function body macs kind")


def disassemble(path):
    """{symbol: [(address, text)]} of an object or program; text without symbols and comments."""
    out = subprocess.run([OBJDUMP, "-d", "-C", "--no-show-raw-insn", "--mattr=" + FEATURES, path],
                         check=True, capture_output=True, text=True).stdout
    functions, current = {}, None
    for line in out.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if head:
            current = functions.setdefault(head.group(1), [])
            continue
        code = re.match(r"^\s+([0-9a-f]+):\s+(\S.*)$", line)
        if code and current is not None:
            text = re.sub(r"\s+", " ", re.sub(r"\s*(<.*>|//.*)$", "", code.group(2)))
            current.append((int(code.group(1), 16), text))
    return functions


def macs(text):
    """(multiply-accumulates, kind) of one instruction."""
    op, _, operands = text.partition(" ")
    if re.match(r"(s|u|us|su)dot$", op):
        return (16 if ".4s" in operands else 8), "dotprod"
    if re.match(r"(s|u|us)mmla$", op):
        return 32, "i8mm"
    if re.match(r"(s|u)ml[as]l2?$|(s|u)mull2?$", op):
        return (8 if ".8h" in operands.split(",")[0] else 4), "neon"
    return 0, ""


def innermost_loops(functions):
    """The innermost loops that multiply, as instruction texts; branches last."""
    for name, code in functions.items():
        at = {address: i for i, (address, _) in enumerate(code)}
        spans = []
        for i, (_, text) in enumerate(code):
            target = re.search(r"0x([0-9a-f]+)$", text)
            if BRANCH.match(text) and target and at.get(int(target.group(1), 16), i + 1) <= i:
                spans.append((at[int(target.group(1), 16)], i))
        for first, last in spans:
            if any(s != (first, last) and first <= s[0] and s[1] <= last for s in spans):
                continue
            body = [text for _, text in code[first:last + 1]]
            counted = [macs(text) for text in body]
            kinds = {kind for _, kind in counted if kind}
            if len(kinds) == 1:
                yield Loop(name, body, sum(n for n, _ in counted), kinds.pop())


def trace(command, program, cpu):
    """The instructions executed between TraceBegin and TraceEnd, in order."""
    functions = disassemble(program)
    texts = {address: text for code in functions.values() for address, text in code}
    log = subprocess.run(["qemu-aarch64", "-cpu", cpu, "-singlestep", "-d", "exec,nochain"] + command,
                         check=True, capture_output=True, text=True).stderr
    run = re.findall(r"\[[0-9a-f]+/([0-9a-f]+)/[^\]]*\] *(\S*)", log)
    names = [name for _, name in run]
    first = len(names) - names[::-1].index("TraceBegin")
    last = names.index("TraceEnd", first)
    # Without the caller's instructions around the call.
    inside = [i for i in range(first, last) if names[i] not in ("main", "")]
    return [texts[int(run[i][0], 16)] for i in range(inside[0], inside[-1] + 1)]
