"""Makes a network of integers from one of floats and a folder of samples, without training, and runs it.

    PYTHONPATH=build/release/python python3 examples/quantize/quantize.py float.onnx samples/ int8.tflite

The network is an .onnx or .tflite file of float32 with one input. Each .npy file of the folder has one sample.
Some hundreds that look like what the network will see are enough. Needs NumPy.
"""

import sys
from pathlib import Path

import intaglio
import numpy

network, folder, target = sys.argv[1:]
files = sorted(Path(folder).glob("*.npy"))

# A function that starts again: samples are read one by one, as often as they are needed.
q = intaglio.quantize(network, lambda: map(numpy.load, files), format=Path(target).suffix[1:])
q.save(target)
print(f"{target}: {len(q.data)} bytes, {sum(layer.integers for layer in q.layers)} of {len(q.layers)} layers")
for layer in q.layers:
    if layer.note:
        print(f"  {layer.label}: {layer.note}")
for loss in q.report.worst(3):
    print(f"  {loss.label}: {loss.sqnr_alone:.1f} dB alone  {loss.rule}")

floats, integers = intaglio.load(network), intaglio.load(target)
sample = numpy.load(files[0]).reshape(floats.inputs[0].shape)
[exact], [answer] = floats.run([sample]), integers.run([sample])
print(f"float32  {exact.ravel()[:6].round(3)}\nintegers {answer.ravel()[:6].round(3)}")
same = sum(output.same_place for output in q.outputs)
print(f"the same answers in {same} of {sum(output.samples for output in q.outputs)} samples")
