#include "intaglio/bench/harness/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace intaglio::bench {
namespace {

constexpr std::string_view kCommonUsage =
    R"(  --seconds=0.1         timed per contender and case
  --rounds=5            turns of each contender at least
  --cold                sweep the caches before every call
  --cpu_time            with one thread: its CPU time, for machines that do other things as well
  --out=FILE            JSON for bench/report
)";
const std::vector<std::string> kCommonFlags = {"seconds", "rounds", "cold", "cpu_time", "out"};

[[noreturn]] void Refuse(const std::string& message) {
  std::fprintf(stderr, "%s (--help lists the flags)\n", message.c_str());
  std::exit(2);
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool Contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Options::Options(int argc, char** argv, const std::vector<std::string>& known,
                 std::string_view usage)
    : command_(std::string_view(argv[0]).substr(std::string_view(argv[0]).rfind('/') + 1)) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    command_ += std::string(" ") + argv[i];
    if (argument == "--help") {
      std::fwrite(usage.data(), 1, usage.size(), stdout);
      std::fwrite(kCommonUsage.data(), 1, kCommonUsage.size(), stdout);
      std::exit(0);
    }
    if (!argument.starts_with("--")) Refuse("what is " + std::string(argument));
    argument.remove_prefix(2);
    const size_t equals = argument.find('=');
    const std::string name(argument.substr(0, equals));
    if (!Contains(known, name) && !Contains(kCommonFlags, name))
      Refuse("there is no flag --" + name);
    flags_.push_back(
        {name, equals == argument.npos ? "1" : std::string(argument.substr(equals + 1))});
  }
}

std::string Options::Text(std::string_view name, std::string_view otherwise) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return flag.value;
  }
  return std::string(otherwise);
}

double Options::Number(std::string_view name, double otherwise) const {
  const std::string text = Text(name, "");
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value) || value < 0) {
    Refuse("--" + std::string(name) + "=" + text + " is no number, or not one from 0 on");
  }
  return value;
}

std::vector<int> Options::Threads(std::string_view otherwise) const {
  std::vector<int> counts;
  for (const std::string& text : List("threads", otherwise)) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > 1024) {
      Refuse("--threads: " + text + " is no number from 1 to 1024");
    }
    counts.push_back(count);
  }
  if (counts.empty()) Refuse("--threads is empty");
  return counts;
}

std::vector<std::string> Options::List(std::string_view name, std::string_view otherwise) const {
  return Split(Text(name, otherwise), ',');
}

Budget Options::MakeBudget(int threads) const {
  Budget budget;
  budget.seconds = Number("seconds", budget.seconds);
  budget.min_rounds = static_cast<int>(std::clamp(Number("rounds", budget.min_rounds), 1.0, 1e6));
  budget.settle_ms = threads > 1 ? 5 : 0;
  budget.cold = Has("cold");
  budget.cpu_time = threads == 1 && Has("cpu_time");
  return budget;
}

}  // namespace intaglio::bench
