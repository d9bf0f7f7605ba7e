// Preloaded into the peers of bench/models, whose packages older_cpu.py has copied: answers where
// they ask for the CPU's features as a CPU that has AVX2 and nothing newer.
#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace {

constexpr unsigned char kAsks[] = {0x0f, 0x04};  // in place of CPUID; no CPU knows it

struct Registers {
  uint32_t a, b, c, d;
};

constexpr uint32_t Bits(std::initializer_list<int> list) {
  uint32_t bits = 0;
  for (const int bit : list) bits |= uint32_t{1} << bit;
  return bits;
}

Registers Ask(uint32_t leaf, uint32_t part) {
  Registers r{};
  __cpuid_count(leaf, part, r.a, r.b, r.c, r.d);
  if (leaf == 7 && part == 0) {
    r.b &= ~Bits({16, 17, 21, 26, 27, 28, 30, 31});  // AVX-512
    r.c &= ~Bits({1, 6, 8, 11, 12, 14});             // the same, GFNI among it
    r.d &= ~Bits({2, 3, 8, 22, 23, 24, 25});         // the same and AMX
  }
  if (leaf == 7 && part == 1) {
    r.a &= ~Bits({4, 5, 23});  // AVX-VNNI, bfloat16, AVX-IFMA
    r.d = 0;                   // AVX-VNNI of other types, AVX10
  }
  if (leaf == 0xd && part == 0) r.a &= ~Bits({5, 6, 7});  // registers of AVX-512
  return r;
}

void Answer(int signal_number, siginfo_t*, void* context) {
  greg_t* const r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (std::memcmp(reinterpret_cast<const void*>(r[REG_RIP]), kAsks, sizeof(kAsks)) != 0) {
    signal(signal_number, SIG_DFL);  // and again from the same instruction
    return;
  }
  const Registers found = Ask(static_cast<uint32_t>(r[REG_RAX]), static_cast<uint32_t>(r[REG_RCX]));
  r[REG_RAX] = found.a;
  r[REG_RBX] = found.b;
  r[REG_RCX] = found.c;
  r[REG_RDX] = found.d;
  r[REG_RIP] += sizeof(kAsks);
}

__attribute__((constructor)) void Install() {
  struct sigaction action {};
  action.sa_sigaction = Answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

}  // namespace
