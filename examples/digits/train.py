#!/usr/bin/env python3
"""Train the digits demo network and write it as a fully int8 .tflite file.

Needs three packages (the versions used last are in metadata.json):

    python3 -m venv venv
    venv/bin/pip install tensorflow scikit-learn numpy     # tensorflow-cpu also works
    venv/bin/python train.py --out .

The images come inside scikit-learn, so nothing is downloaded.  The data is cut
once into 1,297 training and 500 held-out images.  Training and the calibration
of the quantized ranges see training images only; the held-out images are read
only at the end, to measure accuracy and to record the reference outputs.

Files written to --out:

    digits.tflite          the int8 model (int8 input, int8 output)
    heldout_images.npy     int8  [500, 8, 8, 1], in the model's input quantization
    heldout_labels.npy     uint8 [500]
    expected_outputs.npy   int8  [500, 10], from the TFLite reference kernels
    metadata.json          accuracies, quantization, operators, versions

Seeds are fixed and TensorFlow's deterministic mode is on, so a second run on the
same machine and versions repeats the first.  Another processor or TensorFlow
version may round differently while training and give slightly other weights.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import sklearn
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.lite.tools import flatbuffer_utils

HELD_OUT = 500
CALIBRATION = 300
PIXEL_MAX = 16.0  # a pixel counts the set bits of a 4x4 block

ALLOWED_OPS = {
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "AVERAGE_POOL_2D",
    "MAX_POOL_2D", "PAD", "RESHAPE", "SOFTMAX", "LOGISTIC", "TANH", "RELU",
    "RELU6", "MEAN", "CONCATENATION", "QUANTIZE", "DEQUANTIZE",
}


def parse_args():
    parser = argparse.ArgumentParser(description="Train and quantize the digits demo model.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent,
                        help="folder to write to (default: next to this script)")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=7, help="seed of weights, shuffling and shifts")
    parser.add_argument("--split-seed", type=int, default=1797,
                        help="seed of the train/held-out cut")
    parser.add_argument("--date", default=datetime.date.today().isoformat(),
                        help="date to record in metadata.json")
    return parser.parse_args()


def load_split(split_seed):
    """Return (train_x, test_x, train_y, test_y); images are float32 in [0, 1], NHWC."""
    digits = load_digits()
    images = (digits.images / PIXEL_MAX).astype(np.float32)[..., np.newaxis]
    labels = digits.target.astype(np.uint8)
    return train_test_split(images, labels, test_size=HELD_OUT, stratify=labels,
                            random_state=split_seed)


def build_network():
    """Three 3x3 convolutions with one depthwise residual block between them."""
    layers = tf.keras.layers
    inputs = layers.Input((8, 8, 1), name="image")
    x = layers.Conv2D(16, 3, padding="same", activation="relu", name="conv1")(inputs)
    x = layers.Conv2D(32, 3, padding="same", activation="relu", name="conv2")(x)
    x = layers.MaxPooling2D(2, name="pool")(x)
    y = layers.DepthwiseConv2D(3, padding="same", activation="relu", name="depthwise")(x)
    y = layers.Conv2D(32, 1, name="pointwise")(y)
    x = layers.ReLU(name="residual_relu")(layers.Add(name="residual")([x, y]))
    x = layers.Conv2D(48, 3, activation="relu", name="conv3")(x)
    x = layers.GlobalAveragePooling2D(name="mean")(x)
    x = layers.Dense(10, name="dense")(x)
    return tf.keras.Model(inputs, layers.Softmax(name="probabilities")(x), name="digits")


def shifted(images, rng):
    """Move every image by -1, 0 or +1 pixels along each axis, filling with background."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    offsets = rng.integers(0, 3, size=(len(images), 2))
    return np.stack([p[dy:dy + 8, dx:dx + 8] for p, (dy, dx) in zip(padded, offsets)])


def train(images, labels, args):
    """Train for a fixed number of epochs; nothing is selected by looking at other data."""
    network = build_network()
    steps = args.epochs * -(-len(images) // args.batch)
    rate = tf.keras.optimizers.schedules.CosineDecay(3e-3, steps)
    network.compile(optimizer=tf.keras.optimizers.Adam(rate),
                    loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    rng = np.random.default_rng(args.seed)
    for epoch in range(args.epochs):
        history = network.fit(shifted(images, rng), labels, batch_size=args.batch, verbose=0)
        if epoch % 20 == 19 or epoch + 1 == args.epochs:
            print(f"epoch {epoch + 1:3d}  loss {history.history['loss'][0]:.4f}  "
                  f"accuracy {history.history['accuracy'][0]:.4f}", flush=True)
    return network


def convert_int8(network, calibration_images):
    """Post-training quantization to int8 throughout; returns the flatbuffer's bytes."""
    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([img[np.newaxis]] for img in calibration_images)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    # Convolution weights get one scale per output channel.  The dense layer keeps
    # a single scale, the form every int8 TFLite runtime accepts.
    converter._experimental_disable_per_channel_quantization_for_dense_layers = True
    return converter.convert()


def operator_names(model_bytes):
    """List the model's operators in execution order, and refuse any that is not allowed."""
    model = flatbuffer_utils.convert_bytearray_to_object(bytearray(model_bytes))
    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}
    codes = [names[max(c.builtinCode, c.deprecatedBuiltinCode)] for c in model.operatorCodes]
    ops = [codes[op.opcodeIndex] for op in model.subgraphs[0].operators]
    unexpected = set(ops) - ALLOWED_OPS
    if unexpected or len(model.subgraphs) != 1:
        raise SystemExit(f"unexpected model contents: {sorted(unexpected)}")
    return ops


def quantize(images, detail):
    """Real pixels to int8 by the model's own input scale and zero point."""
    scale, zero_point = detail["quantization"]
    return np.clip(np.round(images / scale) + zero_point, -128, 127).astype(np.int8)


def reference_interpreter(model_bytes):
    """An interpreter limited to TFLite's reference kernels: no delegate, no SIMD variants."""
    interpreter = tf.lite.Interpreter(
        model_content=model_bytes, num_threads=1,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    return interpreter


def run_int8(interpreter, images):
    """Run int8 images one at a time; returns the raw int8 outputs."""
    source = interpreter.get_input_details()[0]["index"]
    result = interpreter.get_output_details()[0]["index"]
    outputs = []
    for image in images:
        interpreter.set_tensor(source, image[np.newaxis])
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(result)[0].copy())
    return np.stack(outputs)


def correct(scores, labels):
    return int(np.sum(np.argmax(scores, axis=1) == labels))


def quantization_of(detail):
    scale, zero_point = detail["quantization"]
    return {"scale": float(scale), "zero_point": int(zero_point)}


def save_array(path, array):
    """Write a C-order .npy file, format version 1.0."""
    with open(path, "wb") as file:
        np.lib.format.write_array(file, np.ascontiguousarray(array), version=(1, 0),
                                  allow_pickle=False)


def main():
    args = parse_args()
    tf.keras.utils.set_random_seed(args.seed)
    tf.config.experimental.enable_op_determinism()

    train_x, test_x, train_y, test_y = load_split(args.split_seed)
    network = train(train_x, train_y, args)
    model_bytes = convert_int8(network, train_x[:CALIBRATION])
    ops = operator_names(model_bytes)

    interpreter = reference_interpreter(model_bytes)
    source, result = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    test_q = quantize(test_x, source)
    outputs = run_int8(interpreter, test_q)
    float_right = correct(network.predict(test_x, verbose=0), test_y)
    int8_right = correct(outputs, test_y)

    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "digits.tflite").write_bytes(model_bytes)
    save_array(args.out / "heldout_images.npy", test_q)
    save_array(args.out / "heldout_labels.npy", test_y)
    save_array(args.out / "expected_outputs.npy", outputs)
    metadata = {
        "date": args.date,
        "data": {"train": len(train_x), "held_out": len(test_x), "calibration": CALIBRATION,
                 "calibration_source": "first images of the training part",
                 "split_seed": args.split_seed},
        "training": {"epochs": args.epochs, "batch": args.batch, "seed": args.seed,
                     "parameters": network.count_params()},
        "float_held_out": {"correct": float_right, "accuracy": float_right / HELD_OUT},
        "int8_held_out": {"correct": int8_right, "accuracy": int8_right / HELD_OUT,
                          "kernels": "TFLite reference (BUILTIN_REF)"},
        "input": quantization_of(source),
        "output": quantization_of(result),
        "operators": ops,
        "model_bytes": len(model_bytes),
        "versions": {"python": platform.python_version(), "tensorflow": tf.__version__,
                     "keras": tf.keras.__version__, "scikit-learn": sklearn.__version__,
                     "numpy": np.__version__},
    }
    (args.out / "metadata.json").write_text(json.dumps(metadata, indent=2) + "\n")
    print(json.dumps(metadata, indent=2))


if __name__ == "__main__":
    main()
