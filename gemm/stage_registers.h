// In which registers a pipeline of a caller's own stages runs: in the widest that the CPU has,
// whatever the flags that the caller's file is compiled with. Such a file holds the pipeline once
// for each register vocabulary. All files of a program that use one Pipeline type are to be
// compiled with the same -m flags: of their copies the linker keeps one, which another CPU might
// not run. Where INTAGLIO_STAGES_BY_FLAGS is defined, for all files of a program, or where the
// compiler cannot do that, it holds it once, in the vocabulary that its flags allow.
#ifndef INTAGLIO_GEMM_STAGE_REGISTERS_H_
#define INTAGLIO_GEMM_STAGE_REGISTERS_H_

#include <cstdint>

#include "intaglio/fixedpoint/type.h"
#include "intaglio/fixedpoint/unfused.h"
#include "intaglio/kernels/native_registers.h"
#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/tile.h"

#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(INTAGLIO_STAGES_BY_FLAGS)
#if __has_attribute(target)
#define INTAGLIO_STAGES_BY_CPU
#include "intaglio/kernels/x86/plain_registers.h"
#endif
#endif

namespace intaglio {

enum class RegisterSet : uint8_t { kScalar, kSse41, kAvx2, kAvx512, kNeon };

// Those of the fastest kernel that this CPU has and INTAGLIO_ISA allows; scalar where memory is too
// short to find out.
RegisterSet StageRegisters() noexcept;

// A pipeline by pointer, which must outlive what is returned.
template <class... Stages>
TilePipeline AsTilePipeline(const Pipeline<Stages...>& pipeline) {
#if defined(INTAGLIO_STAGES_BY_CPU)
  using AnyPipeline = Pipeline<Stages...>;
  constexpr Type kOutput = TypeOf<typename AnyPipeline::Output>;
  switch (StageRegisters()) {
    case RegisterSet::kAvx512:
      return {&pipeline, &PlainAvx512::Run<AnyPipeline>, kOutput, "avx512"};
    case RegisterSet::kAvx2:
      return {&pipeline, &PlainAvx2::Run<AnyPipeline>, kOutput, "avx2"};
    case RegisterSet::kSse41:
      return {&pipeline, &PlainSse41::Run<AnyPipeline>, kOutput, "sse4.1"};
    default:
      break;
  }
  TilePipeline tile = AsTilePipeline<Unfused<Scalar>>(pipeline);
  tile.registers = "scalar";
#else
  TilePipeline tile = AsTilePipeline<Unfused<NativeRegisters>>(pipeline);
  tile.registers = kNativeRegisters;
#endif
  return tile;
}

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_STAGE_REGISTERS_H_
