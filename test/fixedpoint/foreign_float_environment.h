// Floating-point environments that a caller may have set.
#ifndef INTAGLIO_TEST_FIXEDPOINT_FOREIGN_FLOAT_ENVIRONMENT_H_
#define INTAGLIO_TEST_FIXEDPOINT_FOREIGN_FLOAT_ENVIRONMENT_H_

#include <cfenv>
#include <cstdint>

namespace intaglio::test {

struct FloatMode {
  const char* name;
  int rounding;
  bool flushes = false;  // denormal operands and results are 0, where the CPU can
};

inline constexpr FloatMode kForeignFloatModes[] = {{"upward", FE_UPWARD},
                                                   {"downward", FE_DOWNWARD},
                                                   {"toward zero", FE_TOWARDZERO},
                                                   {"flush to zero", FE_TONEAREST, true},
                                                   {"upward, flush to zero", FE_UPWARD, true}};

// This thread computes in the mode until the end of the object's life.
class ForeignFloatEnvironment {
 public:
  explicit ForeignFloatEnvironment(const FloatMode& mode) {
    std::fegetenv(&before_);
    std::fesetround(mode.rounding);
    if (mode.flushes) Flush();
  }
  ~ForeignFloatEnvironment() { std::fesetenv(&before_); }
  ForeignFloatEnvironment(const ForeignFloatEnvironment&) = delete;
  ForeignFloatEnvironment& operator=(const ForeignFloatEnvironment&) = delete;

 private:
  static void Flush() {
#if defined(__x86_64__)
    uint32_t control = 0;
    asm volatile("stmxcsr %0" : "=m"(control));
    control |= 0x8040;
    asm volatile("ldmxcsr %0" : : "m"(control));
#elif defined(__aarch64__)
    uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    control |= uint64_t{1} << 24;
    asm volatile("msr fpcr, %0" : : "r"(control));
#endif
  }

  std::fenv_t before_;
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_FIXEDPOINT_FOREIGN_FLOAT_ENVIRONMENT_H_
