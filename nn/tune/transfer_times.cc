#include "intaglio/nn/tune/transfer_times.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "intaglio/nn/tune/times.h"
#include "intaglio/nn/tune/timing_key.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

constexpr size_t kMostRounds = 40;
constexpr size_t kLeastRounds = 6;

// Memory of both sides, as large as the largest tensor.
struct Buffers {
  std::shared_ptr<std::byte> on_device;
  std::vector<uint8_t> on_host;
};

struct Samples {
  Times to_device;
  Times to_host;
};

Status CopyOnce(const Backend& device, Buffers& buffers, size_t bytes, const Schedule& schedule,
                Samples& samples) {
  const nanoseconds begin = schedule.Now();
  INTAGLIO_RETURN_IF_ERROR(device.CopyIn(buffers.on_device.get(), buffers.on_host.data(), bytes));
  INTAGLIO_RETURN_IF_ERROR(device.Wait());
  const nanoseconds middle = schedule.Now();
  INTAGLIO_RETURN_IF_ERROR(device.CopyOut(buffers.on_host.data(), buffers.on_device.get(), bytes));
  const nanoseconds end = schedule.Now();
  samples.to_device.Add(static_cast<double>((middle - begin).count()));
  samples.to_host.Add(static_cast<double>((end - middle).count()));
  return {};
}

}  // namespace

double TransferTimes::ToDevice(size_t bytes) const {
  const auto found = times_.find(bytes);
  return found == times_.end() ? 0 : found->second.to_device;
}

double TransferTimes::ToHost(size_t bytes) const {
  const auto found = times_.find(bytes);
  return found == times_.end() ? 0 : found->second.to_host;
}

Result<TransferTimes> TransferTimes::Measure(const std::vector<size_t>& sizes,
                                             const Backend& device, KnownTimes& known,
                                             const Schedule& schedule, nanoseconds budget) {
  TransferTimes result;
  std::map<size_t, Samples> unknown;
  for (const size_t bytes : sizes) {
    if (bytes == 0) continue;
    const Timing* const in = known.FindNetwork(TransferKey(device, bytes, true));
    const Timing* const out = known.FindNetwork(TransferKey(device, bytes, false));
    if (in != nullptr && out != nullptr) {
      result.times_[bytes] = {in->ns, out->ns};
    } else {
      unknown[bytes] = {};
    }
  }
  if (unknown.empty()) return result;
  const size_t most = unknown.rbegin()->first;
  Result<std::shared_ptr<std::byte>> memory = device.Allocate(most);
  if (!memory.ok()) return memory.status();
  Buffers buffers{*memory, std::vector<uint8_t>(most)};
  const nanoseconds end = schedule.Now() + budget;
  for (size_t round = 0; round < kMostRounds; ++round) {
    for (auto& [bytes, samples] : unknown) {
      INTAGLIO_RETURN_IF_ERROR(CopyOnce(device, buffers, bytes, schedule, samples));
    }
    if (round >= kLeastRounds && schedule.Now() > end) break;
  }
  for (const auto& [bytes, samples] : unknown) {
    const Pair times = {std::max(1.0, std::round(samples.to_device.estimate())),
                        std::max(1.0, std::round(samples.to_host.estimate()))};
    result.times_[bytes] = times;
    const size_t count = samples.to_device.count();
    known.AddNetwork(TransferKey(device, bytes, true), {times.to_device, 0, count});
    known.AddNetwork(TransferKey(device, bytes, false), {times.to_host, 0, count});
  }
  return result;
}

}  // namespace intaglio::nn::tune
