// The constant side of a product, packed once in device memory, and a pipeline bound to it.
#ifndef INTAGLIO_GEMM_CUDA_PACKED_MATRIX_H_
#define INTAGLIO_GEMM_CUDA_PACKED_MATRIX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/stream.h"
#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pack/packed_matrix.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio::cuda {

// Pointers are to device memory. Values and zero points are stored as int8: uint8 ones less 128.
struct PackedChannels {
  int8_t* lines = nullptr;         // kernels/cuda/layout.h
  int32_t* sums = nullptr;         // per channel
  int32_t* zero_points = nullptr;  // per channel; null where all are 0
  int channels = 0;
  int depth = 0;
  int padded_depth = 0;
  int64_t magnitude = 0;  // the largest sum over depth of |value - zero point| of any channel
  size_t bytes = 0;
};

// Immutable after packing; copies share the memory. Serves every kernel of the device.
class PackedMatrix {
 public:
  // Packs an int8 or uint8 matrix in device memory, of any order and stride. `channel_zero_points`
  // are as in gemm/gemm.h's PackOptions, and in host memory. Allocates, and waits for the stream.
  static Result<PackedMatrix> Pack(const Stream& stream, Side side, const ConstMatrix& matrix,
                                   std::span<const int32_t> channel_zero_points = {});

  Side side() const { return side_; }
  int rows() const { return side_ == Side::kLhs ? data_->channels : data_->depth; }
  int cols() const { return side_ == Side::kLhs ? data_->depth : data_->channels; }
  size_t bytes() const { return data_->bytes; }
  const PackedChannels& data() const { return *data_; }

 private:
  PackedMatrix(Side side, std::shared_ptr<const PackedChannels> data)
      : side_(side), data_(std::move(data)) {}
  Side side_;
  std::shared_ptr<const PackedChannels> data_;
};

// A standard pipeline bound to a packed matrix: the parameters of every channel are made once,
// instead of by a small kernel in every call, and the cheapest exact form of scaling is found.
class BoundPipeline {
 public:
  // For products of `matrix` with operands of this type and zero point. `pipeline` is as for Gemm;
  // its channels are those of the matrix. Multipliers out of range are refused. Allocates, and
  // waits for the stream.
  static Result<BoundPipeline> Bind(const Stream& stream, const PackedMatrix& matrix,
                                    const StandardPipeline& pipeline, Type operand_type,
                                    int32_t operand_zero_point);

  struct Storage {
    PackedMatrix matrix;
    StandardPipeline pipeline;
    Type operand_type;
    int32_t operand_zero_point;
    ScalingForm form;
    std::shared_ptr<PanelParams> params;  // in device memory, one per group of channels
  };
  // Null for one made by default, which is bound to nothing.
  const Storage* storage() const { return storage_.get(); }

 private:
  std::shared_ptr<const Storage> storage_;
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_PACKED_MATRIX_H_
