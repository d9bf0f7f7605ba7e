"""A peer as a process with the protocol of runner.cc:

    python3 engine.py litert|onnxruntime|onnxruntime_exact|openvino MODEL THREADS cpu|wall FOLDER

THREADS may be INSTANCESxTHREADS: then `invokes` runs that many instances, each by a thread of Python,
while the engine lets others run.
"""

import json
import sys
import threading
import time
from pathlib import Path

import numpy as np


def status_bytes(key):
    for line in open("/proc/self/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def read_input(folder, i, dtype, shape):
    """The file's bytes. FOLDER/shapes, if it exists, has the shapes of all inputs, one in each line."""
    shapes = folder / "shapes"
    if shapes.exists():
        shape = [int(n) for n in shapes.read_text().splitlines()[i].split()]
    return np.fromfile(folder / f"input{i}", dtype=dtype).reshape(shape)


class LiteRt:
    """With the XNNPACK delegate, which is LiteRT's default."""

    def __init__(self, path, threads, instances):
        self.interpreters = [litert.Interpreter(model_path=path, num_threads=threads)
                             for _ in range(instances)]
        for interpreter in self.interpreters:
            interpreter.allocate_tensors()
        self.invokes = [interpreter.invoke for interpreter in self.interpreters]

    def feed(self, folder):
        for interpreter in self.interpreters:
            for i, detail in enumerate(interpreter.get_input_details()):
                data = read_input(folder, i, detail["dtype"], detail["shape"])
                interpreter.set_tensor(detail["index"], data)

    def outputs(self):
        first = self.interpreters[0]
        return [np.array(first.get_tensor(d["index"])) for d in first.get_output_details()]


class OnnxRuntime:
    """With its default optimizations; inputs and outputs bound, so that no run converts them. Instances
    share one session, as servers do."""

    TYPES = {"float": "float32", "float16": "float16", "double": "float64"}

    def __init__(self, path, threads, instances, exact=False):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        if exact:    # never saturates (the default does on CPUs that have AVX2 but no VNNI)
            options.add_session_config_entry("session.x64quantprecision", "1")
        self.session = onnxruntime.InferenceSession(path, options,
                                                    providers=["CPUExecutionProvider"])
        self.bindings = [self.session.io_binding() for _ in range(instances)]
        self.invokes = [lambda b=binding: self.session.run_with_iobinding(b)
                        for binding in self.bindings]

    def feed(self, folder):
        self.values = []
        for i, tensor in enumerate(self.session.get_inputs()):
            name = tensor.type.removeprefix("tensor(").removesuffix(")")
            data = read_input(folder, i, self.TYPES.get(name, name), tensor.shape)
            self.values.append(onnxruntime.OrtValue.ortvalue_from_numpy(data))
            for binding in self.bindings:
                binding.bind_ortvalue_input(tensor.name, self.values[-1])
        for tensor in self.session.get_outputs():
            for binding in self.bindings:
                binding.bind_output(tensor.name)

    def outputs(self):
        outputs = self.bindings[0].copy_outputs_to_cpu()
        declared = self.session.get_outputs()
        if any(len(t.shape) != a.ndim for t, a in zip(declared, outputs)):
            # A second run refuses outputs that the first one gave another rank than the file says.
            names = [t.name for t in declared]
            values = {t.name: v for t, v in zip(self.session.get_inputs(), self.values)}
            again = lambda: self.session.run_with_ort_values(names, values)
            self.invokes = [again] * len(self.invokes)
        return outputs


class OpenVino:
    """Asked for the least latency, and for float32 where others compute in it. It compiles a model for
    the shapes of its inputs, which FOLDER/shapes names where the file leaves them open. Each instance has a stream."""

    def __init__(self, path, threads, instances):
        self.core = openvino.Core()
        self.model = self.core.read_model(path)
        self.instances = instances
        self.options = {"INFERENCE_NUM_THREADS": instances * threads, "NUM_STREAMS": instances,
                        "PERFORMANCE_HINT": "LATENCY" if instances == 1 else "THROUGHPUT",
                        "INFERENCE_PRECISION_HINT": "f32"}

    def feed(self, folder):
        data = [read_input(folder, i, port.get_element_type().to_dtype(),
                           list(port.shape) if port.partial_shape.is_static else -1)
                for i, port in enumerate(self.model.inputs)]
        self.model.reshape({i: list(a.shape) for i, a in enumerate(data)})
        compiled = self.core.compile_model(self.model, "CPU", self.options)
        self.requests = [compiled.create_infer_request() for _ in range(self.instances)]
        for request in self.requests:
            for i, a in enumerate(data):
                request.set_input_tensor(i, openvino.Tensor(a))
        self.invokes = [lambda r=request: (r.start_async(), r.wait()) for request in self.requests]

    def outputs(self):
        return [np.array(self.requests[0].get_output_tensor(i).data)
                for i in range(len(self.model.outputs))]


def fastest(invoke, seconds, clock):
    invoke()
    best = float("inf")
    start = clock()
    end = start + seconds * 1e9
    while start < end:
        invoke()
        stop = clock()
        best = min(best, stop - start)
        start = stop
    return best


def together(invokes, seconds, clock):
    """Nanoseconds for one run of many, where all instances run at once."""
    rates = [0.0] * len(invokes)
    ready = threading.Barrier(len(invokes))

    def run(i):
        invokes[i]()
        ready.wait(timeout=60)    # ends if another instance failed
        runs, start = 0, clock()
        while clock() < start + seconds * 1e9:
            invokes[i]()
            runs += 1
        rates[i] = runs / (clock() - start)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(invokes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 1 / sum(rates)


def main(engine, path, threads, clock, folder):
    instances, _, threads = threads.rpartition("x")
    clock = time.process_time_ns if clock == "cpu" else time.perf_counter_ns
    folder = Path(folder)
    Path("/proc/self/clear_refs").write_text("5")
    resident = status_bytes("VmRSS")
    opened = clock()
    contender = engine(path, int(threads), int(instances or 1))
    contender.feed(folder)
    contender.invokes[0]()
    outputs = contender.outputs()
    first = clock() - opened
    peak = status_bytes("VmHWM")
    for i, output in enumerate(outputs):
        (folder / f"output{i}").write_bytes(output.tobytes())
    print(json.dumps({"first_ms": first / 1e6, "peak_bytes": peak - resident,
                      "types": [output.dtype.name for output in outputs]}), flush=True)
    for line in sys.stdin:
        invokes = contender.invokes
        ns = (together(invokes, float(line), clock) if len(invokes) > 1 else
              fastest(invokes[0], float(line), clock))
        print(f"{ns:.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "litert":
        from ai_edge_litert import interpreter as litert
        main(LiteRt, *sys.argv[2:])
    elif sys.argv[1] == "openvino":
        import openvino
        main(OpenVino, *sys.argv[2:])
    else:
        import onnxruntime
        onnxruntime.set_default_logger_severity(3)
        exact = sys.argv[1] == "onnxruntime_exact"
        main(lambda *arguments: OnnxRuntime(*arguments, exact), *sys.argv[2:])
