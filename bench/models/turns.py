"""Contenders of a case, each in a process of its own, that take turns."""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ENGINE = Path(__file__).parent / "engine.py"


class Contender:
    """A process that speaks the protocol of runner.cc."""

    def __init__(self, name, command, folder, threads, clock, more=()):
        self.name, self.folder, self.times, self.error = name, folder, [], ""
        self.process = subprocess.Popen([*command, str(threads), clock, str(folder), *more],
                                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if line.startswith("{"):
            self.facts = json.loads(line)
        else:
            self.fail()

    def fail(self):
        lines = self.process.stderr.read().strip().splitlines()
        self.error = lines[-1] if lines else f"ended with status {self.process.wait()}"

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line:
            self.times.append(float(line))
        else:
            self.fail()

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:    # it ended before
            pass
        self.process.stderr.close()
        self.process.wait()

    def result(self):
        if self.error:
            return {"error": self.error}
        return {"ms": min(self.times) / 1e6, **self.facts}


def command_of(name, path, runner):
    if name == "intaglio":
        return [str(runner), str(path)]
    return [sys.executable, str(ENGINE), name.removesuffix("_float"), str(path)]


def arguments_of(name, options):
    """What a contender is told besides."""
    return ["float64_as_float32"] if name == "intaglio" and options.float64_as_float32 else []


def measure(case, threads, options):
    """A row of the results. A case has a name, a kind, and `files`: which one each contender runs."""
    clock = "cpu" if options.cpu_time else "wall"
    with tempfile.TemporaryDirectory() as scratch:
        for name in case.files:
            folder = Path(scratch) / name
            folder.mkdir()
            case.write_inputs(folder, name)
        firsts = []
        for left in reversed(range(max(1, options.starts))):
            contenders = [Contender(name, command_of(name, path, options.runner),
                                    Path(scratch) / name, threads, clock,
                                    arguments_of(name, options))
                          for name, path in case.files.items()]
            firsts.append([c.facts["first_ms"] if not c.error else math.inf for c in contenders])
            if left > 0:
                for contender in contenders:
                    contender.close()
        running = {c.name: c for c in contenders if not c.error}
        for _ in range(options.rounds):
            for contender in running.values():
                if not contender.error:
                    contender.turn(options.seconds)
        row = {"model": case.name, "kind": case.kind, "threads": threads,
               **case.differences(running)}
        for contender in contenders:
            contender.close()
            row[contender.name] = contender.result()
        for contender, times in zip(contenders, zip(*firsts)):
            if not contender.error:
                row[contender.name]["first_ms"] = min(times)
    return row
