// The floating-point environment in which all results are defined, whatever the caller has set.
#ifndef INTAGLIO_FIXEDPOINT_FLOAT_ENVIRONMENT_H_
#define INTAGLIO_FIXEDPOINT_FLOAT_ENVIRONMENT_H_

#include <cfenv>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// While an object of this class lives, its thread rounds to nearest, ties to even, computes with
// denormal numbers as they are, and raises no signal. The destructor restores what the thread did
// before. Finding that nothing has to change takes about as long as a store and a load. Exception
// flags that are raised while the object lives are lost only if something had to change.
class DefaultFloatEnvironment {
 public:
  INTAGLIO_INLINE DefaultFloatEnvironment() : before_(Read()) {
    if (IsForeign()) Write(kDefault | (before_ & kKept));
  }
  INTAGLIO_INLINE ~DefaultFloatEnvironment() {
    if (IsForeign()) Write(before_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  using Control = uint32_t;  // MXCSR
  static constexpr Control kControl = 0xffc0;
  static constexpr Control kDefault = 0x1f80;
  static constexpr Control kKept = 0;
  static INTAGLIO_INLINE Control Read() {
    Control control = 0;
    asm volatile("stmxcsr %0" : "=m"(control) : : "memory");
    return control;
  }
  static INTAGLIO_INLINE void Write(Control control) {
    asm volatile("ldmxcsr %0" : : "m"(control) : "memory");
  }
#elif defined(__aarch64__)
  using Control = uint64_t;  // FPCR
  static constexpr Control kControl = ~Control{0};
  static constexpr Control kDefault = 0;
  static constexpr Control kKept = 0;
  static INTAGLIO_INLINE Control Read() {
    Control control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control) : : "memory");
    return control;
  }
  static INTAGLIO_INLINE void Write(Control control) {
    asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
  }
#elif defined(__arm__) && defined(__ARM_FP)
  // FPSCR. It also holds the exception flags and, on old CPUs, the length of vectors.
  using Control = uint32_t;
  static constexpr Control kControl = 0x03c09f00;
  static constexpr Control kDefault = 0;
  static constexpr Control kKept = ~kControl;
  static INTAGLIO_INLINE Control Read() {
    Control control = 0;
    asm volatile("vmrs %0, fpscr" : "=r"(control) : : "memory");
    return control;
  }
  static INTAGLIO_INLINE void Write(Control control) {
    asm volatile("vmsr fpscr, %0" : : "r"(control) : "memory");
  }
#else
  using Control = int;
  static constexpr Control kControl = ~0;
  static constexpr Control kDefault = FE_TONEAREST;
  static constexpr Control kKept = 0;
  static Control Read() { return std::fegetround(); }
  static void Write(Control control) { std::fesetround(control); }
#endif

  INTAGLIO_INLINE bool IsForeign() const { return (before_ & kControl) != kDefault; }

  Control before_;
};

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FLOAT_ENVIRONMENT_H_
