// Variables that are resources.
#include "intaglio/nn/import/resources.h"
#include "intaglio/nn/import/translate.h"

namespace intaglio::nn {

Status TranslateVarHandle(Translation& t) {
  if (t.output_count() != 1) return InvalidArgument("has no output");
  t.Drop();
  return t.resources().MakeHandle(t.output_id(0), t.options<tflite::VarHandleOptions>());
}

Status TranslateReadVariable(Translation& t) {
  const Result<TensorId> variable = t.resources().Find(t.id(0));
  if (!variable.ok()) return variable.status();
  t.KeepInputs(0);
  t.AddInput(*variable);
  t.set(ReadVariable{});
  return {};
}

Status TranslateAssignVariable(Translation& t) {
  if (!t.has_input(1)) return InvalidArgument("input 1 is absent");
  const TensorId value = t.id(1);
  const Result<TensorId> variable = t.resources().FindOrMake(t.id(0), value);
  if (!variable.ok()) return variable.status();
  t.KeepInputs(0);
  t.AddInput(value);
  t.AddInput(*variable);
  t.set(AssignVariable{});
  return {};
}

Status TranslateCallOnce(Translation& t) {
  const Result<const tflite::CallOnceOptions*> options =
      t.RequiredOptions<tflite::CallOnceOptions>();
  if (!options.ok()) return options.status();
  t.Drop();
  return t.resources().Initialize((*options)->init_subgraph_index());
}

}  // namespace intaglio::nn
