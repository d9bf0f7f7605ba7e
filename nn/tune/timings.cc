#include "intaglio/nn/tune/timings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace intaglio::nn::tune {
namespace {

constexpr std::string_view kFormat = "intaglio-timing-1";
// The format, the parts of the key (timing_key.h), nanoseconds, bytes and the count.
constexpr size_t kKeyFields = 10;
constexpr size_t kFields = 1 + kKeyFields + 3;

std::vector<std::string_view> Split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() <= kFields) {
    const size_t space = line.find(' ');
    fields.push_back(line.substr(0, space));
    if (space == line.npos) break;
    line.remove_prefix(space + 1);
  }
  return fields;
}

template <class T>
bool ReadNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The parts of keys are printable ASCII.
bool IsPlain(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// What is wrong with a line; empty: nothing.
const char* ReadLine(std::string_view line, std::string& key, Timing& timing) {
  const std::vector<std::string_view> fields = Split(line);
  if (fields[0] != kFormat) return "does not begin with 'intaglio-timing-1'";
  if (fields.size() != kFields) return "has not 14 fields";
  if (!std::all_of(fields.begin(), fields.end(), IsPlain))
    return "has a field that is no plain text";
  if (!ReadNumber(fields[kFields - 3], timing.ns) || !std::isfinite(timing.ns) || timing.ns <= 0 ||
      timing.ns > 1e15) {
    return "has a time that is no number of nanoseconds";
  }
  if (!ReadNumber(fields[kFields - 2], timing.bytes) || timing.bytes > (uint64_t{1} << 60)) {
    return "has no number of bytes";
  }
  if (!ReadNumber(fields[kFields - 1], timing.count) || timing.count == 0) return "has no count";
  const size_t begin = kFormat.size() + 1;
  const auto end = static_cast<size_t>(fields[kFields - 3].data() - line.data());
  key = line.substr(begin, end - 1 - begin);
  return nullptr;
}

}  // namespace

Status Timings::Read(std::string_view text) {
  if (text.size() > kMaxTimingsBytes) {
    return InvalidArgument("timings have at most " + std::to_string(kMaxTimingsBytes) + " bytes");
  }
  Timings read;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    if (end == text.npos) {
      return InvalidArgument("line " + std::to_string(number) + " of the timings is cut off");
    }
    std::string key;
    Timing timing;
    if (const char* const wrong = ReadLine(text.substr(0, end), key, timing)) {
      return InvalidArgument("line " + std::to_string(number) + " of the timings " + wrong);
    }
    read.Add(key, timing);
    text.remove_prefix(end + 1);
  }
  for (const auto& [key, timing] : read.timings_) Add(key, timing);
  return {};
}

std::string Timings::ToText() const {
  std::string text;
  for (const auto& [key, timing] : timings_) {
    char ns[64];
    const auto end = std::to_chars(ns, ns + sizeof(ns), std::max(1.0, std::round(timing.ns)),
                                   std::chars_format::fixed, 0)
                         .ptr;
    text.append(kFormat).append(" ").append(key).append(" ").append(ns, end);
    text.append(" ").append(std::to_string(timing.bytes));
    text.append(" ").append(std::to_string(timing.count)).append("\n");
  }
  return text;
}

const Timing* Timings::Find(const std::string& key) const {
  const auto found = timings_.find(key);
  return found == timings_.end() ? nullptr : &found->second;
}

void Timings::Add(const std::string& key, const Timing& timing) {
  const auto [found, is_new] = timings_.try_emplace(key, timing);
  if (is_new || timing.ns > found->second.ns) return;
  // The larger count of equal times, so that the order of files does not matter.
  const uint64_t count =
      timing.ns == found->second.ns ? std::max(timing.count, found->second.count) : timing.count;
  found->second = {timing.ns, timing.bytes, count};
}

}  // namespace intaglio::nn::tune
