// Floating-point environments that a caller may have set.
#ifndef INTAGLIO_TEST_FIXEDPOINT_FOREIGN_FLOAT_ENVIRONMENT_H_
#define INTAGLIO_TEST_FIXEDPOINT_FOREIGN_FLOAT_ENVIRONMENT_H_

#include <cfenv>
#include <cstdint>

namespace intaglio::test {

struct FloatMode {
  const char* name;
  int rounding;
  bool flushes = false;  // denormal operands and results are 0, if the CPU can do so
  bool traps = false;    // exceptions except inexact results raise signals, if it can
};

inline constexpr FloatMode kForeignFloatModes[] = {{"upward", FE_UPWARD},
                                                   {"downward", FE_DOWNWARD},
                                                   {"toward zero", FE_TOWARDZERO},
                                                   {"flush to zero", FE_TONEAREST, true},
                                                   {"upward, flush to zero", FE_UPWARD, true},
                                                   {"with signals", FE_TONEAREST, false, true}};

// The register that controls float arithmetic, and its bits.
#if defined(__x86_64__)
struct FloatRegister {  // MXCSR
  static constexpr uint32_t kControl = 0xffc0;
  static constexpr uint32_t kFlush = 0x8040;
  static constexpr uint32_t kTraps = 0;
  static constexpr uint32_t kNoTraps = 0x0e80;
  static uint32_t Read() {
    uint32_t control = 0;
    asm volatile("stmxcsr %0" : "=m"(control));
    return control;
  }
  static void Write(uint32_t control) { asm volatile("ldmxcsr %0" : : "m"(control)); }
};
#elif defined(__aarch64__)
struct FloatRegister {  // FPCR
  static constexpr uint64_t kControl = ~uint64_t{0};
  static constexpr uint64_t kFlush = 1 << 24;
  static constexpr uint64_t kTraps = 0x0f00;
  static constexpr uint64_t kNoTraps = 0;
  static uint64_t Read() {
    uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void Write(uint64_t control) { asm volatile("msr fpcr, %0" : : "r"(control)); }
};
#elif defined(__arm__) && defined(__ARM_FP)
struct FloatRegister {  // FPSCR
  static constexpr uint32_t kControl = 0x03c09f00;
  static constexpr uint32_t kFlush = 1 << 24;
  static constexpr uint32_t kTraps = 0x0f00;
  static constexpr uint32_t kNoTraps = 0;
  static uint32_t Read() {
    uint32_t control = 0;
    asm volatile("vmrs %0, fpscr" : "=r"(control));
    return control;
  }
  static void Write(uint32_t control) { asm volatile("vmsr fpscr, %0" : : "r"(control)); }
};
#else
struct FloatRegister {
  static constexpr int kControl = ~0;
  static constexpr int kFlush = 0;
  static constexpr int kTraps = 0;
  static constexpr int kNoTraps = 0;
  static int Read() { return std::fegetround(); }
  static void Write(int control) { std::fesetround(control); }
};
#endif

// How this thread computes. It does not include the exceptions raised so far.
inline auto FloatControl() { return FloatRegister::Read() & FloatRegister::kControl; }

// While an object of this class lives, its thread computes in the given mode.
class ForeignFloatEnvironment {
 public:
  explicit ForeignFloatEnvironment(const FloatMode& mode) {
    std::fegetenv(&before_);
    std::fesetround(mode.rounding);
    auto control = FloatRegister::Read();
    if (mode.flushes) control |= FloatRegister::kFlush;
    if (mode.traps) control = (control & ~FloatRegister::kNoTraps) | FloatRegister::kTraps;
    FloatRegister::Write(control);
  }
  ~ForeignFloatEnvironment() { std::fesetenv(&before_); }
  ForeignFloatEnvironment(const ForeignFloatEnvironment&) = delete;
  ForeignFloatEnvironment& operator=(const ForeignFloatEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_FIXEDPOINT_FOREIGN_FLOAT_ENVIRONMENT_H_
