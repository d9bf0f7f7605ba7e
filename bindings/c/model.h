// The handles of models and sessions, and what they are made of.
#ifndef INTAGLIO_BINDINGS_C_MODEL_H_
#define INTAGLIO_BINDINGS_C_MODEL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/bindings/c/intaglio.h"
#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/runtime/model.h"

struct it_model_options {
  intaglio::nn::LoadOptions load;
  intaglio::nn::PrepareOptions prepare;
  bool bytes_in_place = false;
  std::string plan;  // its text; empty: none
  bool strict_plan = false;
};

// Its instance never runs. Sessions are shared from it.
struct it_model {
  intaglio::nn::Model model;
  intaglio::nn::PrepareOptions prepare;
  bool has_plan = false;
  std::vector<std::string> plan_warnings;
};

struct it_session {
  it_session(intaglio::nn::Model m, intaglio::nn::PrepareOptions options);

  intaglio::nn::Model model;
  intaglio::nn::PrepareOptions prepare;
  std::vector<intaglio::nn::InputBuffer> inputs;
  std::vector<intaglio::nn::OutputBuffer> outputs;
  std::vector<intaglio::nn::Shape> next_shapes;     // for a resize; empty: as it is
  std::vector<intaglio::nn::TensorUpdate> updates;  // for it_session_update
  bool profiles = false;
  std::vector<std::chrono::nanoseconds> times;  // one per layer, or empty
};

namespace intaglio::c {

// A tensor and a layer of the C interface are those of nn, seen through a pointer to nothing.
inline const it_tensor* ToC(const nn::Tensor& tensor) {
  return reinterpret_cast<const it_tensor*>(&tensor);
}
inline const it_layer* ToC(const nn::LayerInfo& layer) {
  return reinterpret_cast<const it_layer*>(&layer);
}

// Takes the network and the choices of the options' plan, and what of it does not fit (plan.cc).
Status TakePlan(const it_model_options& options, nn::Graph& graph, nn::PrepareOptions& prepare,
                std::vector<std::string>& warnings);

Status SetShape(std::vector<nn::Shape>& shapes, size_t index, const int32_t* dims, size_t rank);

// Runs the model of a session with every kernel and thread count, and compares (verify.cc).
Status Verify(const it_session& session, int max_threads, int32_t& combinations);

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_MODEL_H_
