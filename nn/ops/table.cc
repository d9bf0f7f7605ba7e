#include "intaglio/nn/ops/table.h"

namespace intaglio::nn {
namespace {

class TableRoutine final : public Routine {
 public:
  TableRoutine(const ByteTable& table, size_t count) : table_(table), count_(count) {}

  Status Run(const RunArguments& arguments) const override {
    Apply(table_, arguments.inputs[0], arguments.outputs[0], count_);
    return {};
  }

 private:
  ByteTable table_;
  size_t count_;
};

}  // namespace

void Apply(const ByteTable& table, const void* in, void* out, size_t count) {
  const auto* const source = static_cast<const uint8_t*>(in);
  auto* const target = static_cast<uint8_t*>(out);
  for (size_t i = 0; i < count; ++i) target[i] = table[source[i]];
}

PreparedLayer PrepareTable(const LayerView& layer, const ByteTable& table) {
  PreparedLayer prepared;
  const size_t count = *CountBytes(layer.output().shape, layer.output().type);
  prepared.routine = std::make_shared<TableRoutine>(table, count);
  prepared.name = RoutineName(layer.input(0).type, "table");
  prepared.constant_bytes = sizeof(ByteTable);
  prepared.in_place_inputs = 1;
  return prepared;
}

}  // namespace intaglio::nn
