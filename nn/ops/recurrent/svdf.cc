#include "intaglio/nn/ops/recurrent/svdf.h"

#include <string>
#include <vector>

#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

using namespace svdf;

Result<SvdfSizes> SizesOf(const LayerView& layer) {
  const Shape& x = layer.input(kX).shape;
  const Shape& feature = layer.input(kFeature).shape;
  const Shape& time = layer.input(kTime).shape;
  const int rank = layer.op<Svdf>().rank;
  if (x.size() != 2 || feature.size() != 2 || time.size() != 2 || x[1] < 1 || feature[0] < 1 ||
      time[1] < 1) {
    return layer.Invalid("an input of " + ToString(x) + ", weights of " + ToString(feature) +
                         " and over time of " + ToString(time) + " make no filters");
  }
  const SvdfSizes sizes{x[0], x[1], feature[0], time[1], rank};
  if (rank < 1 || sizes.filters % rank != 0) {
    return layer.Invalid("has " + std::to_string(sizes.filters) + " filters of rank " +
                         std::to_string(rank));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kFeature, {sizes.filters, sizes.inputs}));
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kTime, {sizes.filters, sizes.memory}));
  if (layer.has_input(kBias)) {
    INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kBias, {sizes.units()}));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckSizes(layer, sizes.batch, sizes.filters));
  INTAGLIO_RETURN_IF_ERROR(
      CheckVariable(layer, kState, int64_t{sizes.batch} * sizes.filters * sizes.memory));
  return sizes;
}

ShapesResult InferSvdf(const LayerView& layer) {
  const Result<SvdfSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  return std::vector<Shape>{{sizes->batch, sizes->units()}};
}

template <auto kPrepare>
Result<PreparedLayer> PrepareWith(const LayerView& layer, const LayerOptions& options) {
  const Result<SvdfSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  return kPrepare(layer, *sizes, options);
}

constexpr Candidate kSvdfWays[] = {
    {"svdf", PrepareWith<PrepareIntegerSvdf>, SetOf(Type::kInt8)},
    {"svdf-int8", PrepareWith<PrepareFloatSvdf>, kFloat, NeedsInt8Weights<kFeature>},
    {"svdf", PrepareWith<PrepareFloatSvdf>, kFloat, RefusesInt8Weights<kFeature>}};

}  // namespace

constinit const OperatorRow Svdf::kRow = {
    .name = "SVDF",
    .min_inputs = 3,
    .max_inputs = 5,
    .types = SetOf(Type::kInt8) | kFloat,
    .infer = InferSvdf,
    .candidates = kSvdfWays,
    .remark = "int8 with int16 or int8 states; float32 also with int8 weights",
    .parameters = kAllButFirst,
    .packing = {.matrices = RowsAsChannels, .to_float32 = true}};

}  // namespace intaglio::nn
