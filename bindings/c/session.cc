#include <memory>
#include <string>
#include <utility>

#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/model.h"

it_session::it_session(intaglio::nn::Model m, intaglio::nn::PrepareOptions options)
    : model(std::move(m)),
      prepare(std::move(options)),
      inputs(model.input_count()),
      outputs(model.output_count()) {}

namespace intaglio::c {
namespace {

using NewSession = Result<std::unique_ptr<it_session>>;

NewSession SessionOf(const nn::Model& model, const nn::PrepareOptions& prepare) {
  auto instance = model.Share();
  if (!instance.ok()) return instance.status();
  return std::make_unique<it_session>(std::move(*instance), prepare);
}

Status CheckIndex(const char* kind, size_t index, size_t count) {
  if (index < count) return {};
  return InvalidArgument("there is no " + std::string(kind) + " " + std::to_string(index) +
                         "; the model has " + std::to_string(count));
}

Status SetTimes(it_session& session) {
  session.times.assign(session.profiles ? session.model.layers().size() : 0, {});
  return {};
}

// Writes a buffer of either kind, checked as far as it can be before a run.
template <class Buffer, class Data>
Status SetBuffer(std::vector<Buffer>& buffers, const char* kind, size_t index, Data* data,
                 size_t bytes, it_type type) {
  INTAGLIO_RETURN_IF_ERROR(CheckIndex(kind, index, buffers.size()));
  const auto checked = TypeFrom(type);
  if (!checked.ok()) return checked.status();
  buffers[index] = {data, bytes, *checked};
  return {};
}

Status Resize(it_session& session) {
  const std::vector<nn::Shape> shapes = std::exchange(session.next_shapes, {});
  if (shapes.size() > session.model.input_count()) {
    return CheckIndex("input", shapes.size() - 1, session.model.input_count());
  }
  INTAGLIO_RETURN_IF_ERROR(session.model.Resize(shapes));
  return SetTimes(session);
}

}  // namespace
}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::Status;

it_status* it_session_create(const it_model* model, it_session** out) {
  return Create(out, [&]() -> NewSession {
    INTAGLIO_RETURN_IF_ERROR(NotNull(model, "model"));
    return SessionOf(model->model, model->prepare);
  });
}

it_status* it_session_share(const it_session* session, it_session** out) {
  return Create(out, [&]() -> NewSession {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return SessionOf(session->model, session->prepare);
  });
}

void it_session_destroy(it_session* session) { delete session; }

size_t it_session_input_count(const it_session* session) {
  return session == nullptr ? 0 : session->model.input_count();
}
size_t it_session_output_count(const it_session* session) {
  return session == nullptr ? 0 : session->model.output_count();
}
const it_tensor* it_session_input(const it_session* session, size_t index) {
  return index < it_session_input_count(session) ? ToC(session->model.input(index)) : nullptr;
}
const it_tensor* it_session_output(const it_session* session, size_t index) {
  return index < it_session_output_count(session) ? ToC(session->model.output(index)) : nullptr;
}
size_t it_session_layer_count(const it_session* session) {
  return session == nullptr ? 0 : session->model.layers().size();
}
const it_layer* it_session_layer(const it_session* session, size_t index) {
  return index < it_session_layer_count(session) ? ToC(session->model.layers()[index]) : nullptr;
}
size_t it_session_arena_bytes(const it_session* session) {
  return session == nullptr ? 0 : session->model.arena_bytes();
}

it_status* it_session_warm_up(it_session* session) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return session->model.WarmUp();
  });
}

it_status* it_session_set_input(it_session* session, size_t index, const void* data, size_t bytes,
                                it_type type) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return SetBuffer(session->inputs, "input", index, data, bytes, type);
  });
}

it_status* it_session_set_output(it_session* session, size_t index, void* data, size_t bytes,
                                 it_type type) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return SetBuffer(session->outputs, "output", index, data, bytes, type);
  });
}

it_status* it_session_run(it_session* session) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return session->model.Run(session->inputs, session->outputs, session->times);
  });
}

it_status* it_session_bind_input(it_session* session, size_t index, const void* data, size_t bytes,
                                 it_type type) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    const auto checked = TypeFrom(type);
    if (!checked.ok()) return checked.status();
    return session->model.BindInput(index, {data, bytes, *checked});
  });
}

it_status* it_session_bind_output(it_session* session, size_t index, void* data, size_t bytes,
                                  it_type type) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    const auto checked = TypeFrom(type);
    if (!checked.ok()) return checked.status();
    return session->model.BindOutput(index, {data, bytes, *checked});
  });
}

void* it_session_input_data(it_session* session, size_t index) {
  return session == nullptr ? nullptr : session->model.InputData(index);
}
const void* it_session_output_data(const it_session* session, size_t index) {
  return session == nullptr ? nullptr : session->model.OutputData(index);
}

it_status* it_session_run_bound(it_session* session) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return session->model.RunBound(session->times);
  });
}

it_status* it_session_reset_state(it_session* session) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    session->model.ResetState();
    return {};
  });
}

it_status* it_session_set_input_shape(it_session* session, size_t index, const int32_t* dims,
                                      size_t rank) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    INTAGLIO_RETURN_IF_ERROR(CheckIndex("input", index, session->model.input_count()));
    return SetShape(session->next_shapes, index, dims, rank);
  });
}

it_status* it_session_resize(it_session* session) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    return Resize(*session);
  });
}

it_status* it_session_set_profiling(it_session* session, int32_t on) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    if (on != 0 && on != 1) return intaglio::InvalidArgument("on is " + std::to_string(on));
    session->profiles = on == 1;
    return SetTimes(*session);
  });
}

int64_t it_session_layer_nanoseconds(const it_session* session, size_t index) {
  if (session == nullptr || index >= session->times.size()) return 0;
  return session->times[index].count();
}

it_status* it_session_verify(const it_session* session, int32_t max_threads,
                             int32_t* combinations) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(session, "session"));
    if (max_threads < 1 || max_threads > 64) {
      return intaglio::InvalidArgument("max_threads is " + std::to_string(max_threads) +
                                       "; it may be 1 to 64");
    }
    int32_t nobody_asks = 0;
    return Verify(*session, max_threads, combinations == nullptr ? nobody_asks : *combinations);
  });
}
