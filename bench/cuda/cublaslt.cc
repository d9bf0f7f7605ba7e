#include "intaglio/bench/cuda/cublaslt.h"

#include <cublasLt.h>

#include "intaglio/bench/cuda/timing.h"

namespace intaglio::bench {

constexpr size_t kWorkspace = size_t{64} << 20;

struct CublasLt::State {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr;  // the channels, as depth x channels by columns
  cublasLtMatrixLayout_t b = nullptr;  // the rows, as depth x rows by columns
  cublasLtMatrixLayout_t d = nullptr;  // channels x rows by columns
  cublasLtMatmulHeuristicResult_t best{};
  Buffer workspace{kWorkspace};
  Type output = Type::kInt32;
  bool works = false;

  bool Make(int rows, int channels, int depth) {
    const bool to_int32 = output == Type::kInt32;
    const auto m = static_cast<uint64_t>(channels);
    const auto n = static_cast<uint64_t>(rows);
    const auto k = static_cast<uint64_t>(depth);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtMatmulPreference_t preference = nullptr;
    int found = 0;
    const size_t bytes = kWorkspace;
    bool good =
        cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32I,
                                 to_int32 ? CUDA_R_32I : CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                       sizeof transposed) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatrixLayoutCreate(&a, CUDA_R_8I, k, m, depth) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatrixLayoutCreate(&b, CUDA_R_8I, k, n, depth) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatrixLayoutCreate(&d, to_int32 ? CUDA_R_32I : CUDA_R_8I, m, n, channels) ==
            CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &bytes, sizeof bytes) == CUBLAS_STATUS_SUCCESS;
    good = good && cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, d, d, preference, 1,
                                                  &best, &found) == CUBLAS_STATUS_SUCCESS;
    if (preference != nullptr) (void)cublasLtMatmulPreferenceDestroy(preference);
    return good && found > 0;
  }
  ~State() {
    if (d != nullptr) (void)cublasLtMatrixLayoutDestroy(d);
    if (b != nullptr) (void)cublasLtMatrixLayoutDestroy(b);
    if (a != nullptr) (void)cublasLtMatrixLayoutDestroy(a);
    if (operation != nullptr) (void)cublasLtMatmulDescDestroy(operation);
    if (handle != nullptr) (void)cublasLtDestroy(handle);
  }
};

CublasLt::CublasLt(int rows, int channels, int depth, Type output)
    : state_(std::make_unique<State>()) {
  state_->output = output;
  state_->works = state_->Make(rows, channels, depth);
}
CublasLt::~CublasLt() = default;

bool CublasLt::works() const { return state_->works; }

bool CublasLt::Run(const int8_t* rows, const int8_t* channels, void* dst,
                   cudaStream_t stream) const {
  if (!state_->works) return false;
  const bool to_int32 = state_->output == Type::kInt32;
  const int32_t one = 1;
  const int32_t none = 0;
  const float scale = 1.0f / 256;
  const float zero = 0;
  const void* alpha = to_int32 ? static_cast<const void*>(&one) : &scale;
  const void* beta = to_int32 ? static_cast<const void*>(&none) : &zero;
  return cublasLtMatmul(state_->handle, state_->operation, alpha, channels, state_->a, rows,
                        state_->b, beta, dst, state_->d, dst, state_->d, &state_->best.algo,
                        state_->workspace.as<>(), kWorkspace, stream) == CUBLAS_STATUS_SUCCESS;
}

}  // namespace intaglio::bench
