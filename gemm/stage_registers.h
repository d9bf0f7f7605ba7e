// Chooses the registers in which a pipeline of a caller's own stages runs: the widest that the CPU
// has, whatever flags the caller's file is compiled with. Such a file contains the pipeline once
// for each register vocabulary.
//
// All files of a program that use one Pipeline type must be compiled with the same -m flags: the
// linker keeps one of their copies, and another CPU may not be able to run it.
//
// If INTAGLIO_STAGES_BY_FLAGS is defined, for all files of a program, or if the compiler cannot
// compile for several vocabularies, a file contains the pipeline once, in the vocabulary that its
// flags allow.
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

// The registers of the fastest kernel that this CPU has and INTAGLIO_ISA allows; scalar if memory
// is too short to find out.
RegisterSet StageRegisters() noexcept;

// Refers to a pipeline by pointer. The pipeline must outlive the result.
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
