// Writes a problem of selection as a sum of tables.
#ifndef INTAGLIO_NN_TUNE_COST_TABLES_H_
#define INTAGLIO_NN_TUNE_COST_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/tune/eliminate.h"
#include "intaglio/nn/tune/front.h"
#include "intaglio/nn/tune/net.h"

namespace intaglio::nn::tune {

// What names an option of a layer in a trace.
inline int64_t LeafOf(int layer, int option) { return (int64_t{layer} << 32) | option; }
inline int LayerOf(int64_t leaf) { return static_cast<int>(leaf >> 32); }
inline int OptionOf(int64_t leaf) { return static_cast<int>(leaf & 0xffffffff); }

struct CostTables {
  std::vector<int> sizes;  // by variable: the number of its values
  std::vector<Table> tables;
};

// Variable i is the schema of node i. Further variables are demands: whether some layer of a set
// has some schema. So layers that read the same tensor do not meet in one table: each table has two
// variables, however many layers there are.
//
// Errors: kUnsupported if an adapter is missing for two nodes whatever their options,
// kOutOfMemory if the tables have more than `max_points` entries.
Result<CostTables> TablesOf(const Net& net, const FrontRules& rules, size_t max_points);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_COST_TABLES_H_
