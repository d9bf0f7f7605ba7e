// Kernel::depthwise of every row of the table, called directly.
#include "intaglio/kernels/depthwise_args.h"
#include "intaglio/test/kernels/every_kernel.h"
#include "intaglio/test/kernels/panel_oracle.h"

namespace intaglio::test {
namespace {

struct DepthwiseCase {
  const Kernel& kernel;
  int vectors;
  int taps;
  bool is_signed;
  int first_channel;
  ChannelParams params;
  EpilogueParams epilogue{Type::kInt32, 0, INT32_MIN, INT32_MAX};
  std::vector<int> weights;                 // [tap][channel]
  std::vector<std::vector<uint8_t>> input;  // [tap], first_channel + width bytes

  DepthwiseCase(const Kernel& k, int vectors, int taps, bool is_signed, int first_channel)
      : kernel(k),
        vectors(vectors),
        taps(taps),
        is_signed(is_signed),
        first_channel(first_channel),
        params(k.panel.lanes * vectors),
        weights(static_cast<size_t>(taps * width())),
        input(static_cast<size_t>(taps)) {
    for (auto& tap : input) tap.resize(static_cast<size_t>(first_channel + width()));
  }

  int width() const { return kernel.panel.lanes * vectors; }
  int Input(int tap, int channel) const {
    const uint8_t byte =
        input[static_cast<size_t>(tap)][static_cast<size_t>(first_channel + channel)];
    return is_signed ? static_cast<int8_t>(byte) : byte;
  }
  int32_t Accumulator(int channel) const {
    int64_t sum = params.offset[static_cast<size_t>(channel)];
    for (int t = 0; t < taps; ++t) {
      sum += int64_t{weights[static_cast<size_t>(t * width() + channel)]} * Input(t, channel);
    }
    return Wrap(sum);
  }
  void FillRandom(Random& random) {
    for (int& w : weights) w = Uniform(random, -255, 255);
    for (auto& tap : input) {
      for (uint8_t& byte : tap) byte = static_cast<uint8_t>(random());
    }
  }

  void Check() const {
    std::vector<int32_t> packed;
    for (const int w : weights) packed.push_back(w & 0xffff);
    std::vector<const uint8_t*> pointers;
    for (const auto& tap : input) pointers.push_back(tap.data());
    const PanelParams lanes = params.InLanes(kernel.panel.lanes, vectors);
    GuardedRows out(epilogue.output, 1, width(), 0);
    DepthwiseArgs args;
    args.weights = packed.data();
    args.vectors = vectors;
    args.taps = pointers.data();
    args.tap_count = taps;
    args.first_channel = first_channel;
    args.input_is_signed = is_signed;
    args.params = &lanes;
    args.epilogue = epilogue;
    args.dst = out.dst();
    kernel.depthwise(args);
    for (int c = 0; c < width(); ++c) params.Finish(epilogue, Accumulator(c), c, out.want(0), c);
    ASSERT_TRUE(out.Same()) << kernel.name << ", " << vectors << " vectors, " << taps << " taps, "
                            << NameOf(epilogue.output) << ": " << out.Difference();
  }
};

class DepthwiseTile : public EveryKernel {};

TEST_P(DepthwiseTile, EveryWidthTapCountAndSign) {
  Random random(1);
  for (const int vectors : PanelVectors()) {
    for (const int taps : {0, 1, 2, 3, 9, 25, 49}) {
      for (const bool is_signed : {false, true}) {
        for (const int first : {0, 1, 5, 64}) {
          DepthwiseCase test(kernel(), vectors, taps, is_signed, first);
          test.FillRandom(random);
          for (int32_t& o : test.params.offset) o = static_cast<int32_t>(random());
          ASSERT_NO_FATAL_FAILURE(test.Check());
        }
      }
    }
  }
}

TEST_P(DepthwiseTile, ExtremeOperands) {
  for (const int vectors : PanelVectors()) {
    for (const bool is_signed : {false, true}) {
      for (const int weight : {-255, -128, -1, 0, 1, 127, 255}) {
        for (const int byte : {0, 1, 127, 128, 129, 255}) {
          const bool longest =
              weight % 255 == 0 && byte % 255 == 0;  // 33025 * 255 * 255 fits int32
          DepthwiseCase test(kernel(), vectors, longest && vectors == 1 ? 33025 : 9, is_signed, 0);
          std::fill(test.weights.begin(), test.weights.end(), weight);
          for (auto& tap : test.input)
            std::fill(tap.begin(), tap.end(), static_cast<uint8_t>(byte));
          ASSERT_NO_FATAL_FAILURE(test.Check());
        }
      }
    }
  }
}

TEST_P(DepthwiseTile, OutputTypesAndScaling) {
  Random random(2);
  for (const auto output :
       {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32, Type::kFloat32}) {
    for (const int vectors : PanelVectors()) {
      for (int round = 0; round < 8; ++round) {
        DepthwiseCase test(kernel(), vectors, 9, round % 2 == 0, 3);
        test.FillRandom(random);
        test.params.form = output == Type::kFloat32 ? ScalingForm::kToFloat
                           : round < 2              ? ScalingForm::kSingleRounding
                           : round < 4              ? ScalingForm::kFloatHalfEven
                           : round < 6              ? ScalingForm::kNone
                                                    : ScalingForm::kDoubleRoundingBounded;
        for (size_t c = 0; c < test.params.offset.size(); ++c) {
          test.params.mantissa[c] = (1 << 30) + Uniform(random, 0, (1 << 30) - 1);
          test.params.right_shift[c] = round < 2 ? Uniform(random, 36, 44) : Uniform(random, 6, 13);
          test.params.scale[c] = 0.001f * static_cast<float>(Uniform(random, 1, 1000));
        }
        const bool byte = SizeOf(output) == 1;
        test.epilogue = {output, 3, static_cast<int32_t>(byte ? 2 : Lowest(output)),
                         static_cast<int32_t>(byte ? 120 : Highest(output))};
        ASSERT_NO_FATAL_FAILURE(test.Check());
      }
    }
  }
}

INTAGLIO_INSTANTIATE_EVERY_KERNEL(DepthwiseTile);

}  // namespace
}  // namespace intaglio::test
