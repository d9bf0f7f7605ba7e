#include "intaglio/bench/gemm/ours.h"

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "intaglio/bench/gemm/custom_pipeline.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/gemm_plan.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/word_panels.h"

namespace intaglio::bench {
namespace {

StandardPipeline MakePipeline(const Problem& p, Arithmetic arithmetic) {
  StandardPipeline pipeline;
  pipeline.bias = p.bias.data();
  pipeline.output = p.output_type();
  pipeline.zero_point = p.output_zero;
  pipeline.per_channel = true;
  switch (arithmetic) {
    case Arithmetic::kHalfEven:
      pipeline.scaling = Scaling::kFloatHalfEven;
      pipeline.scale = p.scale.data();
      break;
    case Arithmetic::kDouble:
    case Arithmetic::kSingle:
      pipeline.scaling =
          arithmetic == Arithmetic::kDouble ? Scaling::kDoubleRounding : Scaling::kSingleRounding;
      pipeline.mantissa = p.mantissa.data();
      pipeline.exponent = p.exponent.data();
      break;
    case Arithmetic::kInteger:
      pipeline.bias = nullptr;
      pipeline.per_channel = false;
      pipeline.zero_point = 0;
      break;
    case Arithmetic::kReal:
      pipeline.scaling = Scaling::kToFloat;
      pipeline.scale = p.scale.data();
      pipeline.zero_point = 0;
      break;
  }
  return pipeline;
}

CustomPipeline MakeCustomFor(const std::string& kernel, const Problem& p) {
  const CustomParameters parameters{p.bias.data(), p.scale.data(), p.output_zero,
                                    p.output_type() == Type::kInt8};
  if (kernel.starts_with("avx512") || kernel.starts_with("amx"))
    return MakeCustomAvx512(parameters);
  if (kernel.starts_with("avx")) return MakeCustomAvx2(parameters);
  return MakeCustomScalar(parameters);
}

class Ours : public Engine {
 public:
  Ours(const Problem& p, const OurWay& way, Context& context)
      : context_(context),
        result_(static_cast<size_t>(p.n()) * static_cast<size_t>(p.m()) * SizeOf(p.output_type())),
        lhs_{p.activations.data(), p.activation_type, p.n(), p.k(), p.k(),
             Order::kRowMajor,     p.activation_zero},
        rhs_{p.weights.data(), p.weight_type, p.k(), p.m(), p.k(), Order::kColMajor, p.weight_zero},
        dst_{result_.data(), p.output_type(), p.n(), p.m(), p.m(), Order::kRowMajor},
        pipeline_(MakePipeline(p, way.arithmetic)) {
    arithmetic = way.arithmetic;
  }

  Status Prepare(const Problem& p, const OurWay& way) {
    if (!p.shape.both_change) {
      const PackOptions pack{{}, way.kernel};
      auto packed =
          way.words ? PrepackForWords(Side::kRhs, rhs_, pack) : Prepack(Side::kRhs, rhs_, pack);
      if (!packed.ok()) return packed.status();
      packed_ = *packed;
      BindOptions options{way.fit};
      if (!way.fit) options.rows = p.n();  // fits are wanted of any number of rows
      auto bound = BoundPipeline::Bind(*packed_, pipeline_, lhs_.type, lhs_.zero_point, options);
      if (!bound.ok()) return bound.status();
      bound_ = *bound;
      auto plan = GemmPlan::Make(lhs_, *packed_, dst_, *bound_);
      if (!plan.ok()) return plan.status();
      plan_ = *plan;
      counters.emplace_back("packed_bytes", static_cast<double>(packed_->bytes()));
    }
    const auto description = bound_ ? DescribeGemm(context_, lhs_, Rhs(), dst_, *bound_)
                                    : DescribeGemm(context_, lhs_, Rhs(), dst_, pipeline_);
    if (!description.ok()) return description.status();
    kernel = description->kernel;
    label = description->text;
    counters.emplace_back("panels", description->panels);
    counters.emplace_back("bounded_panels", description->bounded_panels);
    counters.emplace_back("fitted_channels", description->fitted_channels);
    counters.emplace_back("scratch_bytes", static_cast<double>(description->scratch_bytes));
    name = "intaglio." + kernel + "." + NameOf(arithmetic) + (way.fit ? ".fitted" : "");
    if (way.custom_pipeline) {
      custom_ = MakeCustomFor(kernel, p);
      name += ".custom";
      if (packed_) {
        auto plan = GemmPlan::Make(lhs_, *packed_, dst_, custom_->tile);
        if (!plan.ok()) return plan.status();
        plan_ = *plan;
      }
    }
    return {};
  }

  void Run() override {
    const Status status = plan_     ? plan_->Run(context_, lhs_.data, dst_.data, dst_.stride)
                          : custom_ ? Gemm(context_, lhs_, Rhs(), dst_, custom_->tile)
                                    : Gemm(context_, lhs_, Rhs(), dst_, pipeline_);
    if (status.ok()) return;
    std::fprintf(stderr, "%s: %s\n", name.c_str(), status.message().c_str());
    std::exit(1);
  }

  double Value(int row, int channel) const override {
    const size_t i =
        static_cast<size_t>(row) * static_cast<size_t>(dst_.cols) + static_cast<size_t>(channel);
    switch (dst_.type) {
      case Type::kInt8:
        return static_cast<const int8_t*>(dst_.data)[i];
      case Type::kUInt8:
        return static_cast<const uint8_t*>(dst_.data)[i];
      case Type::kInt32:
        return static_cast<const int32_t*>(dst_.data)[i];
      default:
        return static_cast<const float*>(dst_.data)[i];
    }
  }

 private:
  Operand Rhs() const { return packed_ ? Operand(*packed_) : Operand(rhs_); }

  Context& context_;
  AlignedVector<uint8_t> result_;
  ConstMatrix lhs_;
  ConstMatrix rhs_;
  MutableMatrix dst_;
  StandardPipeline pipeline_;
  std::optional<PackedMatrix> packed_;
  std::optional<BoundPipeline> bound_;
  std::optional<GemmPlan> plan_;
  std::optional<CustomPipeline> custom_;
};

}  // namespace

MadeEngine MakeOurs(const Problem& problem, const OurWay& way, Context& context) {
  if (way.custom_pipeline && way.arithmetic != Arithmetic::kHalfEven) {
    return {nullptr, "the custom pipeline is half-even"};
  }
  if (way.fit && problem.shape.both_change) return {nullptr, "nothing to fit to"};
  if (way.words) {
    if (problem.shape.both_change) return {nullptr, "nothing is packed before"};
    if (const char* why_not = WhyNoWordPanels(way.kernel)) return {nullptr, why_not};
  }
  const auto kernel = KernelNamed(way.kernel);
  if (!kernel.ok()) return {nullptr, kernel.status().message()};
  auto ours = std::make_unique<Ours>(problem, way, context);
  const Status status = ours->Prepare(problem, way);
  if (!status.ok()) return {nullptr, status.message()};
  return {std::move(ours), ""};
}

}  // namespace intaglio::bench
