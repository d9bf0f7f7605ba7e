// Composition of output stages: Pipeline(AddBias{...}, Requantize{...}, Clamp{...},
// CastTo<int8_t>{}).
//
// The words of this room:
//   pipeline       the stages that turn an accumulator into an element of the result
//   stage          one step of a pipeline: a struct with parameters and one function, Apply
//   cast           the last stage, which narrows to the result's type
//   value          what stages hand on: a register of int32, or of float32
//   channel        a row or a column of the result, with a bias and a multiplier of its own
//   axis           the direction along which channels follow each other
//   place          the row and the column of a value's lane 0 in the result
//   standard       of a pipeline: bias, scaling, zero point, clamp and cast, in this order; kernels
//                  run it in registers
//   scaling        the step of the standard pipeline that multiplies and rounds
//   tile           a rectangle of int32 accumulators in memory
//   line           a run of a tile's accumulators, along a row or a column of the result
//   tile pipeline  any pipeline by a pointer to a function that runs it over a tile
//   registers      the vocabulary in which a pipeline runs over a tile, by name
//   kept           of a pipeline: copied, with what its pointers point to
#ifndef INTAGLIO_PIPELINE_PIPELINE_H_
#define INTAGLIO_PIPELINE_PIPELINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "intaglio/fixedpoint/unfused.h"
#include "intaglio/pipeline/stages.h"
#include "intaglio/pipeline/tile.h"

// Marks the functions between a tile and the stages, all of which are inlined into one function.
// g++ inlines them, and the stages in them, if only the outermost function asks for it (flatten);
// clang needs the attribute on each of them.
#if defined(__CUDACC__)
#define INTAGLIO_WITHIN INTAGLIO_INLINE
#define INTAGLIO_FLATTEN
#elif defined(__clang__)
#define INTAGLIO_WITHIN INTAGLIO_INLINE
#define INTAGLIO_FLATTEN __attribute__((flatten))
#else
#define INTAGLIO_WITHIN inline
#define INTAGLIO_FLATTEN __attribute__((flatten))
#endif

namespace intaglio {

template <class Stage>
inline constexpr bool kIsCast = false;
template <class T>
inline constexpr bool kIsCast<CastTo<T>> = true;

// True where Stage takes a Value of the vocabulary R. For Scalar, whose values are plain numbers,
// braces refuse the conversion between integers and float that the language would make.
template <class R, class Stage, class Value>
concept TakesValue = (R::kLanes > 1 &&
                      requires(const Stage& stage, Value value, const Place& at) {
                        stage.template Apply<R>(value, at);
                      }) ||
                     requires(const Stage& stage, Value value, const Place& at) {
  stage.template Apply<R>({value}, at);
};

// The stage that a pipeline ends with.
template <class... Stages>
struct LastStage {
  using Type = CastTo<int8_t>;  // so that only the message about an empty pipeline is given
};
template <class First, class... Rest>
struct LastStage<First, Rest...> {
  using Type = std::tuple_element_t<sizeof...(Rest), std::tuple<First, Rest...>>;
};

template <class... Stages>
class Pipeline {
  static constexpr size_t kCount = sizeof...(Stages);
  static constexpr size_t kCasts = (size_t{kIsCast<Stages>} + ... + 0);
  using Last = typename LastStage<Stages...>::Type;
  static_assert(kCount > 0 && kIsCast<Last>,
                "a pipeline ends with CastTo<T>{}, which names the type of its result");
  static_assert(kCasts == 1, "only the last stage of a pipeline may be a CastTo<T>");

 public:
  using Output = typename Last::Output;
  static_assert(std::is_same_v<Output, int8_t> || std::is_same_v<Output, uint8_t> ||
                    std::is_same_v<Output, int16_t> || std::is_same_v<Output, int32_t> ||
                    std::is_same_v<Output, float>,
                "CastTo<T> takes int8_t, uint8_t, int16_t, int32_t or float");

  constexpr explicit Pipeline(Stages... stages) : stages_(std::move(stages)...) {}

  // All stages but the cast.
  template <class R>
  INTAGLIO_WITHIN auto Apply(typename R::I32 acc, const Place& at) const {
    return ApplyFrom<R, 0>(acc, at);
  }

  // The same as numbers, where these stages are, in order, stages of the standard pipeline. Points
  // into this object.
  std::optional<StandardPipeline> Standard() const {
    if constexpr (IsInStandardOrder()) {
      StandardBuilder builder;
      const bool fits = std::apply(
          [&](const Stages&... stages) { return (stages.AddTo(builder) && ...); }, stages_);
      if (fits) return builder.pipeline;
    }
    return std::nullopt;
  }

 private:
  template <class R, size_t kIndex, class Value>
  INTAGLIO_WITHIN INTAGLIO_FLATTEN auto ApplyFrom(Value value, const Place& at) const {
    using Stage = std::tuple_element_t<kIndex, std::tuple<Stages...>>;
    if constexpr (kIsCast<Stage>) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // g++, of vectors as template arguments
      static_assert(
          std::is_same_v<Output, float> == std::is_same_v<Value, typename R::F32> ||
              std::is_same_v<typename R::I32, typename R::F32>,
          "CastTo<float> takes what ScaleToFloat gives, CastTo of an integer takes integers: "
          "put Requantize or ScaleToFloat before the cast");
#pragma GCC diagnostic pop
      return value;
    } else {
      static_assert(
          TakesValue<R, Stage, Value>,
          "this stage does not take the value of the stage before it (int32 accumulators, or "
          "float32 after ScaleToFloat): give it `template <class R> auto Apply(typename "
          "R::I32, const Place&) const`, or change the order");
      return ApplyFrom<R, kIndex + 1>(std::get<kIndex>(stages_).template Apply<R>(value, at), at);
    }
  }

  static constexpr bool IsInStandardOrder() {
    if constexpr ((requires { Stages::kPosition; } && ...)) {
      constexpr StandardPosition kPositions[] = {Stages::kPosition...};
      for (size_t i = 1; i < kCount; ++i) {
        if (kPositions[i - 1] >= kPositions[i]) return false;
      }
      return true;
    }
    return false;
  }

  std::tuple<Stages...> stages_;
};

namespace detail {

// dst[i * stride] = lanes[i], which fits. Compilers narrow a whole vector where they see that the
// stride is 1.
template <int kLanes, class Lane, class Output>
INTAGLIO_INLINE void StoreLanes(const Lane* lanes, Output* dst, ptrdiff_t stride) {
  if (stride == 1) {
    Output narrow[kLanes];
    for (int i = 0; i < kLanes; ++i) narrow[i] = static_cast<Output>(lanes[i]);
    std::memcpy(dst, narrow, sizeof narrow);
  } else {
    for (int i = 0; i < kLanes; ++i) dst[i * stride] = static_cast<Output>(lanes[i]);
  }
}

// R::kLanes elements of one line before the cast. `kAlong` is the tile's.
template <class R, Axis kAlong, class AnyPipeline>
INTAGLIO_WITHIN auto Finished(const AnyPipeline& pipeline, const AccumulatorTile& tile, int line,
                              int element) {
  const int l = tile.first_line + line;
  const int e = tile.first_element + element;
  const Place at = kAlong == Axis::kCols ? Place{l, e, kAlong} : Place{e, l, kAlong};
  return pipeline.template Apply<R>(R::Load(tile.acc + line * tile.acc_stride + element), at);
}

template <class Output>
INTAGLIO_INLINE Output* ResultAt(const AccumulatorTile& tile, int line, int element) {
  return static_cast<Output*>(tile.dst) + line * tile.line_stride + element * tile.element_stride;
}

template <class R, Axis kAlong, class AnyPipeline>
INTAGLIO_WITHIN void FinishLanes(const AnyPipeline& pipeline, const AccumulatorTile& tile, int line,
                                 int element) {
  using Output = typename AnyPipeline::Output;
  Output* const dst = ResultAt<Output>(tile, line, element);
  const auto value = Finished<R, kAlong>(pipeline, tile, line, element);
  if constexpr (std::is_same_v<Output, float>) {
    float lanes[R::kLanes];
    R::StoreF(lanes, value);
    StoreLanes<R::kLanes>(lanes, dst, tile.element_stride);
  } else {
    int32_t lanes[R::kLanes];
    R::Store(lanes, R::Min(R::Max(value, R::Set(std::numeric_limits<Output>::min())),
                           R::Set(std::numeric_limits<Output>::max())));
    StoreLanes<R::kLanes>(lanes, dst, tile.element_stride);
  }
}

// Whether R has instructions that narrow a few vectors to neighbouring bytes.
template <class R, class Output>
concept StoresTogether = requires(Output* dst, const typename R::I32* values) {
  R::StoreSaturated(dst, values);
};

// As many vectors as are stored so of each of kLines lines, for which numbers of a channel are
// loaded once.
template <class R, Axis kAlong, int kLines, class AnyPipeline>
INTAGLIO_WITHIN void FinishTogether(const AnyPipeline& pipeline, const AccumulatorTile& tile,
                                    int line, int element) {
  auto* const dst = ResultAt<typename AnyPipeline::Output>(tile, line, element);
  typename R::I32 values[kLines][R::kStoredTogether];
  INTAGLIO_UNROLL
  for (int j = 0; j < R::kStoredTogether; ++j) {
    INTAGLIO_UNROLL
    for (int l = 0; l < kLines; ++l) {
      values[l][j] = Finished<R, kAlong>(pipeline, tile, line + l, element + j * R::kLanes);
    }
  }
  INTAGLIO_UNROLL
  for (int l = 0; l < kLines; ++l) R::StoreSaturated(dst + l * tile.line_stride, values[l]);
}

// Finishes one vector of each line.
template <class R, Axis kAlong, class AnyPipeline>
INTAGLIO_WITHIN void FinishEachLine(const AnyPipeline& pipeline, const AccumulatorTile& tile,
                                    int element) {
  for (int line = 0; line < tile.lines; ++line) {
    FinishLanes<R, kAlong>(pipeline, tile, line, element);
  }
}

// Finishes the rest of the lines where less than a vector of R is left: one vector of each narrower
// vocabulary that fits. Returns the first element that is left then.
template <class R, Axis kAlong, class AnyPipeline>
INTAGLIO_WITHIN int FinishNarrower(const AnyPipeline& pipeline, const AccumulatorTile& tile,
                                   int element) {
  if constexpr (requires { typename R::Narrower; }) {
    using Narrower = typename R::Narrower;
    if (element + Narrower::kLanes <= tile.length) {
      FinishEachLine<Narrower, kAlong>(pipeline, tile, element);
      element += Narrower::kLanes;
    }
    return FinishNarrower<Narrower, kAlong>(pipeline, tile, element);
  } else {
    return element;
  }
}

// Down the lines, of which a tile has more than a line has vectors.
template <class R, Axis kAlong, class AnyPipeline>
INTAGLIO_WITHIN void RunTileAlong(const AnyPipeline& given, const AccumulatorTile tile) {
  // A copy, which writing to dst cannot change: its numbers stay in registers.
  const AnyPipeline pipeline = given;
  int e = 0;
  if constexpr (StoresTogether<R, typename AnyPipeline::Output>) {
    constexpr int kWidth = R::kStoredTogether * R::kLanes;
    for (; tile.element_stride == 1 && e + kWidth <= tile.length; e += kWidth) {
      int line = 0;
      for (; line + 2 <= tile.lines; line += 2) {
        FinishTogether<R, kAlong, 2>(pipeline, tile, line, e);
      }
      if (line < tile.lines) FinishTogether<R, kAlong, 1>(pipeline, tile, line, e);
    }
  }
  for (; e + R::kLanes <= tile.length; e += R::kLanes) {
    FinishEachLine<R, kAlong>(pipeline, tile, e);
  }
  e = FinishNarrower<R, kAlong>(pipeline, tile, e);
  // Not of the copy, which compilers would make vector code for.
  for (; e < tile.length; ++e) FinishEachLine<Unfused<Scalar>, kAlong>(given, tile, e);
}

template <class R, class AnyPipeline>
INTAGLIO_WITHIN void RunTile(const void* pipeline, const AccumulatorTile& tile) {
  const auto& p = *static_cast<const AnyPipeline*>(pipeline);
  if (tile.along == Axis::kCols) {
    RunTileAlong<R, Axis::kCols>(p, tile);
  } else {
    RunTileAlong<R, Axis::kRows>(p, tile);
  }
}

// RunTile for the instruction set of the including file's flags.
template <class R, class AnyPipeline>
INTAGLIO_FLATTEN void RunTileHere(const void* pipeline, const AccumulatorTile& tile) {
  RunTile<R, AnyPipeline>(pipeline, tile);
}

}  // namespace detail

// Refers to a pipeline by pointer, compiled over the vocabulary R, which the compiler's flags must
// allow. gemm/stage_registers.h chooses a vocabulary by the CPU, whatever the flags.
template <class R, class... Stages>
TilePipeline AsTilePipeline(const Pipeline<Stages...>& pipeline) {
  using Output = typename Pipeline<Stages...>::Output;
  return {&pipeline, &detail::RunTileHere<R, Pipeline<Stages...>>, TypeOf<Output>};
}

}  // namespace intaglio

#endif  // INTAGLIO_PIPELINE_PIPELINE_H_
