// The command line of the benchmark programs.
#ifndef INTAGLIO_BENCH_HARNESS_OPTIONS_H_
#define INTAGLIO_BENCH_HARNESS_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "intaglio/bench/harness/interleave.h"

namespace intaglio::bench {

// --name=value, --name (which stands for --name=1).
class Options {
 public:
  // `known`: the flags beside those of every program, which are --seconds, --rounds, --cold,
  // --cpu_time and --out. Prints a line to stderr and exits with 2 for any other; prints `usage`
  // and exits with 0 for --help.
  Options(int argc, char** argv, const std::vector<std::string>& known, std::string_view usage);

  std::string Text(std::string_view name, std::string_view otherwise) const;
  // A finite number that is not negative, as all numbers here are. Any other ends the program with
  // a line on stderr and status 2.
  double Number(std::string_view name, double otherwise) const;
  // The numbers of --threads, a list of numbers from 1 to 1024.
  std::vector<int> Threads(std::string_view otherwise) const;
  bool Has(std::string_view name) const { return !Text(name, "").empty(); }
  // Comma-separated.
  std::vector<std::string> List(std::string_view name, std::string_view otherwise) const;

  // The whole command line, program name first.
  const std::string& command() const { return command_; }

  // --seconds, --rounds, --cold and, for one thread, --cpu_time; with more threads, turns begin
  // after a pause.
  Budget MakeBudget(int threads) const;

 private:
  struct Flag {
    std::string name;
    std::string value;
  };
  std::string command_;
  std::vector<Flag> flags_;
};

std::vector<std::string> Split(std::string_view text, char separator);
bool Contains(const std::vector<std::string>& list, std::string_view item);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_HARNESS_OPTIONS_H_
