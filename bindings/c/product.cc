#include <cstdint>
#include <string>
#include <utility>

#include "intaglio/bindings/c/context.h"
#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/weights.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/gemm_plan.h"

// Keeps copies of all that it was made of. The plan and the bound pipeline point to them.
struct it_product {
  intaglio::PackedMatrix packed;
  it_pipeline pipeline;
  intaglio::ConstMatrix operand;
  intaglio::MutableMatrix result;
  intaglio::StandardPipeline standard = {};
  bool binds = false;  // the pipeline runs along the channels of the weights
  intaglio::BoundPipeline bound = {};
  intaglio::GemmPlan plan = {};
};

struct it_description {
  intaglio::GemmDescription description;
};

namespace intaglio::c {
namespace {

bool IsLeft(const PackedMatrix& packed) { return packed.side() == Side::kLhs; }

// Whether a pipeline can be bound to weights of this side: if it has values per channel, they are
// the weights' channels.
bool Binds(const StandardPipeline& pipeline, Side side) {
  const bool along_channels = pipeline.axis == (side == Side::kLhs ? Axis::kRows : Axis::kCols);
  const bool per_channel = pipeline.bias != nullptr || pipeline.per_channel;
  return pipeline.scaling != Scaling::kReal64 && (along_channels || !per_channel);
}

// What binding takes for granted. The plan checks the rest.
Status CheckForms(const ConstMatrix& operand, const PackedMatrix& packed,
                  const MutableMatrix& result) {
  if (operand.type != Type::kInt8 && operand.type != Type::kUInt8) {
    return InvalidArgument(std::string("operand: ") + NameOf(operand.type) +
                           "; it must be int8 or uint8");
  }
  const int channels = IsLeft(packed) ? packed.rows() : packed.cols();
  const int got = IsLeft(packed) ? result.rows : result.cols;
  if (got == channels) return {};
  return InvalidArgument("the result has " + std::to_string(got) + " channels, the weights have " +
                         std::to_string(channels));
}

Operand Left(const it_product& product, const ConstMatrix& operand) {
  return IsLeft(product.packed) ? Operand(product.packed) : Operand(operand);
}
Operand Right(const it_product& product, const ConstMatrix& operand) {
  return IsLeft(product.packed) ? Operand(operand) : Operand(product.packed);
}

Status Bind(it_product& product) {
  const bool left = IsLeft(product.packed);
  BindOptions options;
  options.rows = left ? product.result.cols : product.result.rows;
  auto bound = BoundPipeline::Bind(product.packed, product.standard, product.operand.type,
                                   product.operand.zero_point, options);
  if (!bound.ok()) return bound.status();
  product.bound = std::move(*bound);
  return {};
}

Status Plan(it_product& product) {
  const Operand left = Left(product, product.operand);
  const Operand right = Right(product, product.operand);
  auto plan = product.binds ? GemmPlan::Make(left, right, product.result, product.bound)
                            : GemmPlan::Make(left, right, product.result, product.standard);
  if (!plan.ok()) return plan.status();
  product.plan = std::move(*plan);
  return {};
}

Result<std::unique_ptr<it_product>> MakeProduct(const it_matrix& operand, const it_weights& weights,
                                                const it_matrix& result,
                                                const it_pipeline& pipeline) {
  INTAGLIO_RETURN_IF_ERROR(CheckNoChannels(operand, "operand"));
  std::unique_ptr<it_product> product(new it_product{
      weights.matrix, pipeline, OperandOf(operand, nullptr), ResultOf(result, nullptr)});
  INTAGLIO_RETURN_IF_ERROR(CheckForms(product->operand, product->packed, product->result));
  const MutableMatrix& dst = product->result;
  const auto standard = StandardOf(product->pipeline, dst.type, dst.rows, dst.cols);
  if (!standard.ok()) return standard.status();
  product->standard = *standard;
  product->binds = Binds(*standard, product->packed.side());
  if (product->binds) INTAGLIO_RETURN_IF_ERROR(Bind(*product));
  INTAGLIO_RETURN_IF_ERROR(Plan(*product));
  return product;
}

Status RunAs(const it_product& product, Context& context, const ConstMatrix& operand,
             const MutableMatrix& result) {
  if (operand.type != product.operand.type || operand.zero_point != product.operand.zero_point ||
      result.type != product.result.type) {
    return InvalidArgument("the product is for operands and results of other types or zero points");
  }
  const Operand left = Left(product, operand);
  const Operand right = Right(product, operand);
  if (product.binds) return Gemm(context, left, right, result, product.bound);
  const auto standard = StandardOf(product.pipeline, result.type, result.rows, result.cols);
  if (!standard.ok()) return standard.status();
  return Gemm(context, left, right, result, *standard);
}

Result<GemmDescription> Describe(const it_product& product, Context& context) {
  // Two addresses far from each other. Nothing is read there.
  ConstMatrix operand = product.operand;
  operand.data = reinterpret_cast<const void*>(uintptr_t{1});
  MutableMatrix result = product.result;
  result.data = reinterpret_cast<void*>(~(~uintptr_t{0} >> 1));
  const Operand left = Left(product, operand);
  const Operand right = Right(product, operand);
  return product.binds ? DescribeGemm(context, left, right, result, product.bound)
                       : DescribeGemm(context, left, right, result, product.standard);
}

}  // namespace
}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::Result;
using intaglio::Status;

it_status* it_product_create(const it_matrix* operand, const it_weights* weights,
                             const it_matrix* result, const it_pipeline* pipeline,
                             it_product** out) {
  return Create(out, [&]() -> Result<std::unique_ptr<it_product>> {
    INTAGLIO_RETURN_IF_ERROR(NotNull(operand, "operand"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(weights, "weights"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(result, "result"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    return MakeProduct(*operand, *weights, *result, *pipeline);
  });
}

void it_product_destroy(it_product* product) { delete product; }

it_status* it_product_run(const it_product* product, it_context* context, const void* operand,
                          void* result) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(product, "product"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(context, "context"));
    return product->plan.Run(context->context, operand, result, product->result.stride);
  });
}

it_status* it_product_run_as(const it_product* product, it_context* context,
                             const it_matrix* operand_form, const void* operand,
                             const it_matrix* result_form, void* result) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(product, "product"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(context, "context"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(operand_form, "operand_form"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(result_form, "result_form"));
    INTAGLIO_RETURN_IF_ERROR(CheckNoChannels(*operand_form, "operand_form"));
    return RunAs(*product, context->context, OperandOf(*operand_form, operand),
                 ResultOf(*result_form, result));
  });
}

it_status* it_multiply(it_context* context, const it_matrix* left, const void* left_data,
                       const it_matrix* right, const void* right_data, const it_matrix* result,
                       void* result_data, const it_pipeline* pipeline) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(context, "context"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(left, "left"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(right, "right"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(result, "result"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    INTAGLIO_RETURN_IF_ERROR(CheckNoChannels(*left, "left"));
    INTAGLIO_RETURN_IF_ERROR(CheckNoChannels(*right, "right"));
    const intaglio::MutableMatrix dst = ResultOf(*result, result_data);
    const auto standard = StandardOf(*pipeline, dst.type, dst.rows, dst.cols);
    if (!standard.ok()) return standard.status();
    return intaglio::Gemm(context->context, OperandOf(*left, left_data),
                          OperandOf(*right, right_data), dst, *standard);
  });
}

it_status* it_product_describe(const it_product* product, it_context* context,
                               it_description** out) {
  return Create(out, [&]() -> Result<std::unique_ptr<it_description>> {
    INTAGLIO_RETURN_IF_ERROR(NotNull(product, "product"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(context, "context"));
    auto description = Describe(*product, context->context);
    if (!description.ok()) return description.status();
    return std::unique_ptr<it_description>(new it_description{std::move(*description)});
  });
}

void it_description_destroy(it_description* description) { delete description; }

const char* it_description_kernel(const it_description* description) {
  return description == nullptr ? nullptr : description->description.kernel.c_str();
}

size_t it_description_skipped_count(const it_description* description) {
  return description == nullptr ? 0 : description->description.skipped.size();
}

const char* it_description_skipped(const it_description* description, size_t index) {
  if (index >= it_description_skipped_count(description)) return nullptr;
  return description->description.skipped[index].c_str();
}

const char* it_description_text(const it_description* description) {
  return description == nullptr ? nullptr : description->description.text.c_str();
}
