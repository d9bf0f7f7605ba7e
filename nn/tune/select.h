// Selects how each layer is computed, so that the whole network takes the least time.
//
// The words of tune, each with one meaning:
//
//   option       one way to compute a layer: what it costs, and its schema
//   schema       where and in which form an option reads and writes tensors, such as "cpu:qint8"
//   adapter      converts a tensor from one schema to another: a transfer, a cast, another layout
//   copy         what an adapter makes; all that read a tensor in one schema share one copy
//   selection    one option for each layer, and the copies that follow
//   amount       what stands against time: bytes, or differences of results
//   trade-off    a selection that no other one beats in time and in all amounts
//   front        points of cost and amounts, of which none is worse than another in all (front.h)
//   table        a front for every combination of some variables: schemas of layers, and whether a
//                copy exists (eliminate.h)
//
// Hilaga and others, "SoftNeuro: fast deep inference using multi-platform optimization", 2021, find
// the path of least total time by dynamic programming whose states are schemas of layers. This is
// the same sum, in three ways generalized: eliminating variables needs no constraint sets, whose
// merging their algorithm leaves open for nested branches; a copy is paid once however many layers
// read it; and amounts may be weighed against time.
#ifndef INTAGLIO_NN_TUNE_SELECT_H_
#define INTAGLIO_NN_TUNE_SELECT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn::tune {

// Times are in nanoseconds, finite and not negative. They are rounded to 1/1024 ns, so that a sum
// does not depend on the order of its terms. All times of a problem together must be below 2^50 ns
// (13 days), all bytes of its options below 2^62, and their differences, too.
struct Option {
  int schema = 0;  // not negative
  double nanoseconds = 0;
  int64_t bytes = 0;  // of memory that the layer keeps from run to run: packed weights, tables
  // By how much it changes what the network computes, in any unit. Differences add up.
  int64_t difference = 0;
};

// Converts one tensor. An adapter that is missing, or takes an infinite time, is impossible.
struct Adapter {
  int tensor = 0;
  int from = 0;  // the schema in which the layer writes the tensor
  int to = 0;    // another schema
  double nanoseconds = 0;
};

// An input or an output of the network: a tensor whose schema there is given.
struct End {
  int tensor = 0;
  int schema = 0;
};

// Tensors are numbers from 0 to `tensors` - 1. A tensor exists in the schema of the layer that
// writes it. A layer reads all its tensors in its own schema; where the schemas differ, it reads a
// copy, which an adapter makes of the tensor itself and never of another copy. Constants belong to
// the options: they are no tensors here.
struct Problem {
  struct Layer {
    std::vector<Option> options;  // at least one; the first is the default
    std::vector<int> reads;       // a tensor may be named twice
    std::vector<int> writes;
  };

  int tensors = 0;
  std::vector<Layer> layers;  // in any order
  std::vector<End> inputs;
  std::vector<End> outputs;
  std::vector<Adapter> adapters;  // each tensor, from and to at most once
};

struct Copy {
  int tensor = 0;
  int from = 0;
  int to = 0;
};

struct Selection {
  std::vector<int> options;  // by layer: an index into its options
  std::vector<Copy> copies;  // by tensor and `to`
  double nanoseconds = 0;    // of the options and the copies
  int64_t bytes = 0;         // of the options
  int64_t difference = 0;    // of the options
};

struct SelectLimits {
  // The points that all tables hold together. A point and what refers to it take up to 96 bytes.
  // They grow exponentially with how many branches are open side by side, but linearly with depth.
  // For ResNet-152, Inception-v4 and DenseNet-201 with four schemas, Select needs less than 50,000.
  size_t max_points = size_t{1} << 22;
  // The points of one front in SelectTradeoffs, from 2 to 4096.
  size_t max_front = 256;
  // What selections of SelectTradeoffs keep within. Fronts are smaller, and finer, within limits.
  int64_t max_bytes = std::numeric_limits<int64_t>::max();
  int64_t max_difference = std::numeric_limits<int64_t>::max();
};

// Finds the selection of the least total time, exactly. Among those, it takes one where the indices
// of the options have the least sum: if the defaults are as fast as any, they are selected. The
// same problem always gets the same selection.
//
// Errors: kInvalidArgument names what is wrong with the problem; kUnsupported says that adapters
// are missing for every selection; kOutOfMemory says that `max_points` does not suffice.
Result<Selection> Select(const Problem& problem, const SelectLimits& limits = {});

// What is selected with the options that are given, one for each layer. Errors are those of Select.
Result<Selection> Evaluate(const Problem& problem, const std::vector<int>& options);

struct Tradeoffs {
  std::vector<Selection> selections;  // at least one; the fastest first
  // For every selection of the problem, one that has no more bytes, or no more difference, and
  // takes at most so much longer is listed. 0 if the list is exact: no front had more than
  // `max_front` points. If options differ in bytes and in differences, this holds only if it is 0.
  double loss_nanoseconds = 0;
};

// Finds the trade-offs between time, bytes and differences. Fronts of more than `max_front` points
// are thinned out, evenly over time. Every selection in the list is possible, with the numbers that
// it states. The fastest of all is the first, and those with the fewest bytes and the least
// difference are listed, even if the list is not exact. Errors are those of Select, and
// kUnsupported if no selection keeps within the limits.
Result<Tradeoffs> SelectTradeoffs(const Problem& problem, const SelectLimits& limits = {});

// The fastest selection that keeps within both; kUnsupported if there is none.
Result<Selection> FastestWithin(const Tradeoffs& tradeoffs, int64_t max_bytes,
                                int64_t max_difference = std::numeric_limits<int64_t>::max());

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_SELECT_H_
