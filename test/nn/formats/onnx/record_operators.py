"""Records models of one float32 operator, in forms that no node test has, and what ONNX Runtime
makes of them.

    python3 -m venv venv && venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0 numpy
    venv/bin/python record_operators.py        # writes operators.golden beside itself

The bound of a case is relative: outputs may differ by 1e-7 + bound * |recorded|, since the order of
sums is free. golden_format.py describes the file.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from quantized_model import F32, I64, MICROSOFT, U8, Model, set_types

sys.path.insert(0, str(Path(__file__).parents[2] / "ops" / "golden"))
from golden_format import write_golden  # noqa: E402

BOUND = 1e-4
CASES = []


def random(model, shape, positive=False):
    """Numbers away from zero; positive where sums would cancel out and leave rounding errors."""
    signs = 1 if positive else model.rng.choice([-1, 1], shape)
    return (model.rng.uniform(0.5, 2, shape) * signs).astype(F32)


def record(model, outputs):
    proto = model.proto(*outputs)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    results = [np.asarray(result) for result in session.run(None, model.feed)]
    set_types(proto, results)
    data = proto.SerializeToString(deterministic=True)
    CASES.append((model.name, data, "", BOUND, [(list(model.feed.values()), results)]))


def single(name, operator, shapes, opset=19, constants=(), outputs=1, **attributes):
    """One node, whose inputs of these shapes come first, and then the constants (None: absent)."""
    model = Model(name, opset)
    inputs = [model.input(random(model, shape, operator == "Resize")) for shape in shapes]
    if operator == "ConvTranspose":  # weights are constants
        inputs[1:] = [model.constant(model.feed.pop(name)) for name in inputs[1:]]
        del model.inputs[1:]
    inputs += ["" if c is None else model.constant(c) for c in constants]
    result = model.node(operator, inputs, outputs=outputs, **attributes)
    record(model, [result] if outputs == 1 else result)


def einsum():
    for equation, *shapes in [
            ("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk", (3, 4), (4, 5)), ("ij->ji", (3, 4)),
            ("ij->", (3, 4)), ("ii->i", (4, 4)), ("ii", (4, 4)), ("bii->bi", (2, 3, 3)),
            ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
            ("...ij,...jk->...ik", (2, 3, 4), (1, 4, 5)), ("i,j->ij", (3,), (4,)),
            ("i,i->", (5,), (5,)), ("ij,ij->ij", (3, 4), (3, 4)), ("ij,kl->jl", (2, 3), (4, 5)),
            ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("abc,cd,be->ade", (2, 3, 4), (4, 5), (3, 2)),
            ("...->...", (2, 3)), ("b...c->...b", (2, 3, 4)), ("a b , b c -> c a", (2, 3), (3, 4)),
            ("bsnh,btnh->bnts", (2, 3, 2, 4), (2, 5, 2, 4)), ("iji->j", (3, 4, 3)),
            ("ab...,b...->a...", (2, 3, 4, 2), (3, 4, 2)), ("ba,cb", (2, 3), (4, 2))]:
        single(f"Einsum/{equation}", "Einsum", shapes, equation=equation)


def conv_transpose():
    for kernel, stride, pads, more in itertools.product([(3, 3), (2, 4)], [(1, 1), (2, 3)],
                                                        [(0, 0, 0, 0), (1, 0, 1, 1)], [0, 1]):
        if more >= min(stride):
            continue
        name = f"ConvTranspose/k{kernel}s{stride}p{pads}o{more}".replace(" ", "")
        single(name, "ConvTranspose", [(2, 3, 4, 5), (3, 4, *kernel), (4,)], strides=stride,
               pads=pads, output_padding=(more, more))
    single("ConvTranspose/groups", "ConvTranspose", [(1, 4, 3, 5), (4, 3, 3, 2), (6,)], group=2,
           strides=(2, 2), pads=(1, 0, 1, 0))
    single("ConvTranspose/depthwise", "ConvTranspose", [(1, 3, 4, 4), (3, 1, 4, 4), (3,)], group=3,
           strides=(2, 2), pads=(1, 1, 1, 1))
    single("ConvTranspose/dilated", "ConvTranspose", [(1, 2, 4, 5), (2, 3, 3, 2), (3,)],
           dilations=(2, 3), strides=(2, 1), pads=(1, 1, 0, 2))
    single("ConvTranspose/1d", "ConvTranspose", [(2, 3, 7), (3, 2, 4), (2,)], strides=(2,),
           pads=(1, 1), output_padding=(1,))
    single("ConvTranspose/lower", "ConvTranspose", [(1, 2, 4, 5), (2, 3, 4, 3)], strides=(2, 2),
           auto_pad="SAME_LOWER")
    single("ConvTranspose/shape", "ConvTranspose", [(1, 2, 4, 5), (2, 3, 3, 3), (3,)],
           strides=(3, 2), output_shape=(10, 11))
    single("ConvTranspose/3d", "ConvTranspose", [(2, 3, 2, 3, 4), (3, 4, 3, 2, 3), (4,)],
           strides=(2, 1, 2), pads=(1, 0, 1, 0, 1, 1), output_padding=(1, 0, 1))
    single("ConvTranspose/3d/groups", "ConvTranspose", [(1, 4, 3, 2, 3), (4, 3, 2, 2, 2), (6,)],
           group=2, strides=(3, 2, 1))
    single("ConvTranspose/3d/dilated", "ConvTranspose", [(1, 2, 3, 4, 3), (2, 3, 3, 2, 2)],
           dilations=(2, 1, 2), pads=(2, 0, 0, 1, 1, 1))

def pools():
    for operator in ("MaxPool", "AveragePool", "LpPool"):
        for shape, kernel, dilation, ceil in itertools.product(
                [(2, 3, 9), (1, 2, 8, 9), (2, 2, 5, 6, 7)], [2, 3], [1, 2], [0, 1]):
            if dilation == 2 and kernel == 3 and len(shape) == 5:
                continue
            rank = len(shape) - 2
            for pads in (0, 1):
                name = f"{operator}/{rank}d/k{kernel}d{dilation}c{ceil}p{pads}"
                single(name, operator, [shape], kernel_shape=[kernel] * rank,
                       dilations=[dilation] * rank, ceil_mode=ceil, strides=[2] * rank,
                       pads=[pads] * 2 * rank, opset=19)
    for shape, dilation in [((2, 3, 9), 1), ((1, 2, 8, 9), 1), ((1, 2, 8, 9), 2),
                            ((2, 2, 5, 6, 7), 1)]:
        rank = len(shape) - 2
        for order in (0, 1):
            single(f"MaxPool/places/{rank}d/d{dilation}o{order}", "MaxPool", [shape], outputs=2,
                   kernel_shape=[3] * rank, dilations=[dilation] * rank, strides=[2] * rank,
                   pads=[1] * 2 * rank, storage_order=order)


def resize():
    for mode, coordinates, factors in itertools.product(
            ["nearest", "linear", "cubic"],
            ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
             "half_pixel_symmetric"], [(2, 2), (1.7, 2.3), (0.6, 3)]):
        scales = np.array([1, 1, *factors], F32)
        single(f"Resize/{mode}/{coordinates}/{factors}".replace(" ", ""), "Resize", [(1, 2, 6, 5)],
               constants=[None, scales], mode=mode, coordinate_transformation_mode=coordinates)
    for mode in ("floor", "ceil", "round_prefer_ceil"):
        single(f"Resize/{mode}", "Resize", [(1, 2, 4, 6)],
               constants=[None, None, np.array([1, 2, 7, 9], I64)], mode="nearest",
               nearest_mode=mode)
    single("Resize/cubic/outside", "Resize", [(1, 1, 5, 4)], mode="cubic", exclude_outside=1,
           constants=[None, None, np.array([1, 1, 9, 3], I64)])
    single("Resize/linear/3d", "Resize", [(1, 2, 3, 4, 5)], mode="linear",
           constants=[None, None, np.array([1, 2, 5, 4, 9], I64)])
    single("Resize/1d", "Resize", [(2, 3, 7)],
           constants=[None, None, np.array([2, 3, 13], I64)], mode="linear")


def padding():
    for mode in ("constant", "reflect", "edge", "wrap"):
        for pads in ([0, 1, 2, 0, 2, 1], [0, -1, 1, 0, 1, -2]):
            if mode == "wrap" and min(pads) < 0:
                continue
            constants = [np.array(pads, I64)]
            if mode == "constant":
                constants.append(np.array(1.5, F32))
            single(f"Pad/{mode}/{min(pads)}", "Pad", [(2, 4, 5)], constants=constants, mode=mode)


def normalization():
    for size in (1, 2, 3, 4):
        if size % 2:  # ONNX Runtime has odd sizes only
            single(f"LRN/{size}", "LRN", [(2, 5, 3, 4)], size=size, alpha=0.5, beta=0.75, bias=2.0)
    single("BatchNormalization", "BatchNormalization", [(2, 3, 4, 5)],
           constants=[np.array(v, F32) for v in ([1, 2, 3], [4, 5, 6], [1, 0, -1], [1, 2, 0.5])])
    single("BatchNormalization/matrix", "BatchNormalization", [(4, 3)],
           constants=[np.array(v, F32) for v in ([1, 2, 3], [4, 5, 6], [1, 0, -1], [1, 2, 0.5])])
    single("InstanceNormalization", "InstanceNormalization", [(2, 3, 9), (3,), (3,)])
    single("GroupNormalization", "GroupNormalization", [(2, 6, 4, 3), (6,), (6,)], num_groups=3,
           opset=21)
    single("Softmax/old", "Softmax", [(2, 3, 4)], opset=11, axis=1)
    single("Hardmax/old", "Hardmax", [(2, 3, 4)], opset=11, axis=1)
    single("Clip/old", "Clip", [(3, 4)], opset=9, min=-1.0, max=1.0)
    single("Upsample/linear", "Upsample", [(1, 2, 3, 4)], opset=9, mode="linear",
           constants=[np.array([1, 1, 2, 3], F32)])
    single("Resize/old", "Resize", [(1, 2, 3, 4)], opset=10, mode="nearest",
           constants=[np.array([1, 1, 2, 3], F32)])


def few_bits():
    """MatMulNBits, whose activations ONNX Runtime leaves float32 by default on some CPUs only."""
    for bits, depth, zeros in itertools.product((4, 8), (32, 40), ("none", "packed", "float")):
        if bits == 8 and zeros == "float":
            continue
        model = Model(f"MatMulNBits/{bits}/{depth}/{zeros}")
        columns, block = 5, 16
        blocks = -(-depth // block)
        rng = model.rng
        inputs = [model.input(random(model, (3, depth), positive=True)),
                  model.constant(rng.integers(0, 256, (columns, blocks, block * bits // 8), U8)),
                  model.constant(random(model, columns * blocks))]
        if zeros == "packed":
            inputs.append(model.constant(rng.integers(0, 256, columns * -(-blocks * bits // 8), U8)))
        elif zeros == "float":
            inputs.append(model.constant(rng.integers(0, 16, columns * blocks).astype(F32)))
        record(model, [model.node("MatMulNBits", inputs, domain=MICROSOFT, N=columns, K=depth, bits=bits,
                                  block_size=block, accuracy_level=1)])


def fused_convolutions():
    for name, parameters in [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.2]),
                             ("Clip", [-1.0, 2.0])]:
        for adds in (False, True):
            model = Model(f"FusedConv/{name}/{'sum' if adds else 'plain'}")
            inputs = [model.input(random(model, (1, 3, 5, 6))),
                      model.constant(random(model, (4, 3, 3, 3))), model.constant(random(model, 4))]
            if adds:
                inputs.append(model.input(random(model, (1, 4, 3, 4))))
            more = {"activation_params": parameters} if parameters else {}
            record(model, [model.node("FusedConv", inputs, domain=MICROSOFT, kernel_shape=(3, 3),
                                      activation=name, **more)])


def main():
    for family in (einsum, conv_transpose, pools, resize, padding, normalization, few_bits,
                   fused_convolutions):
        before = len(CASES)
        family()
        print(f"{family.__name__}: {len(CASES) - before}")
    write_golden(Path(__file__).with_name("operators.golden"), CASES, version=2)


if __name__ == "__main__":
    main()
