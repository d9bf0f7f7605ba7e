// Tensors of a session: reading them, and changing constants and quantizations.
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/model.h"

namespace intaglio::c {
namespace {

Status CheckTensor(const it_session& session, size_t tensor) {
  const size_t count = session.model.graph().tensors.size();
  if (tensor < count) return {};
  return InvalidArgument("there is no tensor " + std::to_string(tensor) + "; the model has " +
                         std::to_string(count));
}

// What the next update gives a tensor. An empty one would not be nothing: it would prepare the
// tensor's layers again. So callers ask for it when nothing can fail any more.
nn::TensorUpdate& UpdateOf(it_session& session, size_t tensor) {
  const auto id = static_cast<nn::TensorId>(tensor);
  for (nn::TensorUpdate& update : session.updates) {
    if (update.tensor == id) return update;
  }
  session.updates.push_back({.tensor = id});
  return session.updates.back();
}

Status SetConstant(it_session& session, size_t tensor, const void* data, size_t bytes,
                   it_type type) {
  INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
  const auto checked = TypeFrom(type);
  if (!checked.ok()) return checked.status();
  INTAGLIO_RETURN_IF_ERROR(CheckTensor(session, tensor));
  const Type own = session.model.graph().tensors[tensor].type;
  if (*checked != own) {
    return InvalidArgument("tensor " + std::to_string(tensor) + " is " + NameOf(own) +
                           ", but elements of " + NameOf(*checked) + " were given");
  }
  nn::TensorUpdate& update = UpdateOf(session, tensor);
  update.data = data;
  update.bytes = bytes;
  return {};
}

Status SetQuantization(it_session& session, size_t tensor, const float* scales,
                       const int32_t* zero_points, size_t count, int32_t axis) {
  INTAGLIO_RETURN_IF_ERROR(NotNull(scales, "scales"));
  INTAGLIO_RETURN_IF_ERROR(NotNull(zero_points, "zero_points"));
  INTAGLIO_RETURN_IF_ERROR(CheckTensor(session, tensor));
  nn::Quantization quantization{std::vector<float>(scales, scales + count),
                                std::vector<int32_t>(zero_points, zero_points + count), axis};
  UpdateOf(session, tensor).quantization = std::move(quantization);
  return {};
}

}  // namespace
}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::Status;

size_t it_session_tensor_count(const it_session* session) {
  return session == nullptr ? 0 : session->model.graph().tensors.size();
}

const it_tensor* it_session_tensor(const it_session* session, size_t index) {
  return index < it_session_tensor_count(session) ? ToC(session->model.graph().tensors[index])
                                                  : nullptr;
}

const void* it_session_tensor_data(const it_session* session, size_t index) {
  return index < it_session_tensor_count(session)
             ? session->model.TensorData(static_cast<intaglio::nn::TensorId>(index))
             : nullptr;
}

it_status* it_session_set_constant(it_session* session, size_t tensor, const void* data,
                                   size_t bytes, it_type type) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return SetConstant(*session, tensor, data, bytes, type);
  });
}

it_status* it_session_set_quantization(it_session* session, size_t tensor, const float* scales,
                                       const int32_t* zero_points, size_t count, int32_t axis) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return SetQuantization(*session, tensor, scales, zero_points, count, axis);
  });
}

it_status* it_session_update(it_session* session) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    const std::vector<intaglio::nn::TensorUpdate> updates = std::exchange(session->updates, {});
    return session->model.Update(updates);
  });
}
