"""Records quantized models of one operator, and what ONNX Runtime makes of them.

    python3 -m venv venv && venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0 numpy
    venv/bin/python record_quantized.py        # writes quantized.golden beside itself

The outputs are the same on every x86 machine, since what depends on it is avoided:

    uint8 x int8     saturates on CPUs with AVX2 alone. ONNX Runtime gets the weights as uint8, with
                     128 added to them and to their zero point, which gives the exact sums. The file
                     has the int8 ones.
    Q/DQ around      products ("fused"): int8 x int8 stays so, by session.qdqisint8allowed.
    Q/DQ around      other operators ("unfused"): dequantize, the operator in float32, quantize. Run
                     with and without ONNX Runtime's other optimizations, which must agree.

What is a sum of products is computed in NumPy, too, and must agree. All bounds are 0.
golden_format.py describes the file.
"""

import sys
from pathlib import Path

from quantized_elementwise import (qlinear_concat_and_where, qlinear_pairs, qlinear_pools,
                                   qlinear_softmax, qlinear_unary)
from quantized_model import CASES
from quantized_products import (conv_integer, dynamic_matmul, matmul_integer, qdq_conv,
                                qdq_gemm_and_matmul, qgemm, qlinear_conv, qlinear_matmul)
from quantized_rescaled import rescaled
from quantized_unfused import (qdq_movement, qdq_pairs, qdq_unary, qdq_windows, quantize,
                               uint16)

sys.path.insert(0, str(Path(__file__).parents[2] / "ops" / "golden"))
from golden_format import write_golden  # noqa: E402


def main():
    for family in (qlinear_conv, conv_integer, qdq_conv, qlinear_matmul, matmul_integer,
                   dynamic_matmul, qgemm, qdq_gemm_and_matmul, qlinear_pairs, qlinear_unary,
                   qlinear_softmax, qlinear_concat_and_where, qlinear_pools, qdq_pairs, qdq_unary,
                   qdq_windows, qdq_movement, quantize, rescaled, uint16):
        before = len(CASES)
        family()
        print(f"{family.__name__}: {len(CASES) - before}")
    write_golden(Path(__file__).with_name("quantized.golden"), CASES, version=2)


if __name__ == "__main__":
    main()
