// What is concluded from what Linux tells about Arm CPUs, over machines that are made up.
#include "intaglio/gemm/machine/cpu_arm.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "intaglio/kernels/cpu_feature.h"

namespace intaglio {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kA53 = 0x410fd034;
constexpr uint64_t kA55 = 0x412fd050;
constexpr uint64_t kA76 = 0x414fd0b1;
constexpr uint64_t kKryo4xxSilver = 0x51df805e;

// HWCAP and HWCAP2 as the kernel reports them for these cores.
constexpr uint64_t kHwcapA53 = 0x8ff;
constexpr uint64_t kHwcapA76 = 0x119fff;
constexpr uint64_t kHwcapN2 = 0xeffffffb;
constexpr uint64_t kHwcap2N2 = 0x773ff;

class ArmMachine : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        fs::path(testing::TempDir()) /
        (std::string("intaglio_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  void AddCpu(int number, const std::string& midr, const std::string& l1, const std::string& l2) {
    const std::string cpu = "cpu" + std::to_string(number);
    Write(cpu + "/regs/identification/midr_el1", midr + "\n");
    const std::string cache = cpu + "/cache/index";
    const std::string sizes[] = {l1, "16K", l2};
    const char* const types[] = {"Data", "Instruction", "Unified"};
    const char* const levels[] = {"1", "1", "2"};
    for (int i = 0; i < 3; ++i) {
      const std::string folder = cache + std::to_string(i);
      Write(folder + "/size", sizes[i] + "\n");
      Write(folder + "/type", std::string(types[i]) + "\n");
      Write(folder + "/level", std::string(levels[i]) + "\n");
    }
    report_.cpus.push_back(number);
  }

  CpuInfo Ask() {
    report_.sysfs = root_.string();
    return Interpret(report_);
  }

  fs::path root_;
  ArmReport report_{true, kHwcapA76, 0, 0, "", {}};
};

TEST(CpuArm, FeaturesOfHwcap) {
  const auto features = [](bool aarch64, uint64_t hwcap, uint64_t hwcap2) {
    return Interpret({aarch64, hwcap, hwcap2, 0, "/nowhere", {}}).features;
  };
  EXPECT_EQ(features(true, 0, 0), 0u);
  EXPECT_EQ(features(true, kHwcapA53, 0), kNeon);
  EXPECT_EQ(features(true, kHwcapA76, 0), kNeon | kDotprod);
  EXPECT_EQ(features(true, kHwcapN2, kHwcap2N2), kNeon | kDotprod | kI8mm);
  EXPECT_EQ(features(true, 0x415ffb, 0), kNeon);      // A64FX: SVE without dotprod
  EXPECT_EQ(features(true, 1u << 20, 1u << 13), 0u);  // not without ASIMD
  // 32 bits: Cortex-A15 without and with NEON; the bits of AArch64 mean something else.
  EXPECT_EQ(features(false, 0x86ef, 0), 0u);
  EXPECT_EQ(features(false, 0x96ef, 0), kNeon);
  EXPECT_EQ(features(false, 0x96ef, 1u << 13), kNeon);
  EXPECT_EQ(features(false, 0x96ef | 1u << 24 | 1u << 27, 0), kNeon | kDotprod | kI8mm);
}

TEST(CpuArm, InOrderCores) {
  EXPECT_TRUE(IsInOrder(kA53));
  EXPECT_TRUE(IsInOrder(kA55));
  EXPECT_TRUE(IsInOrder(kKryo4xxSilver));
  EXPECT_FALSE(IsInOrder(kA76));
  EXPECT_FALSE(IsInOrder(0));
  EXPECT_FALSE(IsInOrder(0x480fd034));  // another implementer's part number
}

TEST(CpuArm, Parsers) {
  EXPECT_EQ(ParseMidr("0x00000000410fd034\n"), kA53);
  EXPECT_EQ(ParseMidr("0x410fd034"), kA53);
  EXPECT_EQ(ParseMidr(""), 0u);
  EXPECT_EQ(ParseMidr("410fd034"), 0u);
  EXPECT_EQ(ParseMidr("0xzz"), 0u);
  EXPECT_EQ(ParseMidr("0x12345678901234567"), 0u);
  EXPECT_EQ(ParseCacheSize("32K\n"), 32u << 10);
  EXPECT_EQ(ParseCacheSize("2M\n"), 2u << 20);
  EXPECT_EQ(ParseCacheSize("512"), 512u);
  EXPECT_EQ(ParseCacheSize(""), 0u);
  EXPECT_EQ(ParseCacheSize("K"), 0u);
  EXPECT_EQ(ParseCacheSize("99999999999999999999K"), 0u);
  EXPECT_EQ(ParseCacheSize("4000000K"), 0u);
}

TEST_F(ArmMachine, LittleCores) {
  AddCpu(0, "0x00000000410fd034", "32K", "256K");
  AddCpu(1, "0x00000000412fd050", "16K", "512K");
  const CpuInfo info = Ask();
  EXPECT_EQ(info.features, kNeon | kDotprod | kInOrder);
  EXPECT_EQ(info.l1_bytes, 16u << 10);
  EXPECT_EQ(info.l2_bytes, 256u << 10);
}

// One core that issues out of order decides what a process prefers, unless it may not run on it;
// the others are told apart by number.
TEST_F(ArmMachine, BigAndLittleCores) {
  AddCpu(0, "0x00000000412fd050", "32K", "128K");
  AddCpu(2, "0x00000000412fd050", "32K", "128K");
  AddCpu(4, "0x00000000414fd0b1", "64K", "1M");
  EXPECT_EQ(Ask().features, kNeon | kDotprod);
  EXPECT_EQ(Ask().l1_bytes, 32u << 10);
  EXPECT_EQ(Ask().in_order_cpus, (std::vector<bool>{true, false, true}));
  report_.cpus = {4, 2};
  EXPECT_EQ(Ask().features, kNeon | kDotprod);
  EXPECT_EQ(Ask().in_order_cpus, (std::vector<bool>{false, false, true}));
  report_.cpus = {0, 2};
  EXPECT_EQ(Ask().features, kNeon | kDotprod | kInOrder);
  EXPECT_TRUE(Ask().in_order_cpus.empty());
  report_.cpus = {4};
  EXPECT_EQ(Ask().features, kNeon | kDotprod);
  EXPECT_TRUE(Ask().in_order_cpus.empty());
  EXPECT_EQ(Ask().l2_bytes, 1u << 20);
}

// A core that is switched off has no registers to show; the one that runs this has.
TEST_F(ArmMachine, WithoutSysfs) {
  report_.cpus = {0, 1};
  EXPECT_EQ(Ask().features, kNeon | kDotprod);
  EXPECT_EQ(Ask().l1_bytes, kDefaultL1Bytes);
  EXPECT_EQ(Ask().l2_bytes, kDefaultL2Bytes);
  report_.midr = kA55;
  EXPECT_EQ(Ask().features, kNeon | kDotprod | kInOrder);
}

// In an emulator /sys is that of the machine beneath.
TEST_F(ArmMachine, CachesOfAnotherMachineAreNotTaken) {
  AddCpu(0, "", "48K", "2M");
  EXPECT_EQ(Ask().l1_bytes, kDefaultL1Bytes);
  EXPECT_EQ(Ask().l2_bytes, kDefaultL2Bytes);
}

// The process has no CPU list: nothing is known to be in order.
TEST_F(ArmMachine, WithoutCpus) {
  report_.midr = kA53;
  EXPECT_EQ(Ask().features, kNeon | kDotprod);
}

// The emulator plays the CPU that QEMU_CPU names.
TEST(CpuArm, EmulatedCpus) {
  const char* const name = std::getenv("QEMU_CPU");
  const std::string cpu = name == nullptr ? "" : name;
#if !defined(__aarch64__)
  GTEST_SKIP() << "not AArch64";
#endif
  const uint32_t features = Cpu().features;
  if (cpu == "cortex-a53") {
    EXPECT_EQ(features, kNeon | kInOrder);
  } else if (cpu == "cortex-a76") {
    EXPECT_EQ(features, kNeon | kDotprod);
  } else if (cpu == "max" || cpu == "max,sve=off") {
    EXPECT_EQ(features, kNeon | kDotprod | kI8mm);
  } else {
    GTEST_SKIP() << "no emulated CPU";
  }
}

}  // namespace
}  // namespace intaglio
