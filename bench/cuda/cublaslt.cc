// cuBLASLt: int32, or int8 by one scale. It wants extents that are multiples of 16 (of 4 at least).
#include <cublasLt.h>

#include "intaglio/bench/cuda/peers.h"
#include "intaglio/bench/cuda/timing.h"

namespace intaglio::bench {
namespace {

constexpr size_t kWorkspace = size_t{64} << 20;

class CublasLt final : public Peer {
 public:
  CublasLt(const PeerProblem& problem, Epilogue epilogue)
      : Peer("cuBLASLt", epilogue),
        to_int32_(epilogue == Epilogue::kInt32),
        scale_(problem.scale),
        works_(Make(problem)) {}
  ~CublasLt() override {
    if (d_ != nullptr) (void)cublasLtMatrixLayoutDestroy(d_);
    if (b_ != nullptr) (void)cublasLtMatrixLayoutDestroy(b_);
    if (a_ != nullptr) (void)cublasLtMatrixLayoutDestroy(a_);
    if (operation_ != nullptr) (void)cublasLtMatmulDescDestroy(operation_);
    if (handle_ != nullptr) (void)cublasLtDestroy(handle_);
  }

  bool Run(const int8_t* rows, const int8_t* channels, void* dst,
           cudaStream_t stream) const override {
    if (!works_) return false;
    const int32_t one = 1;
    const int32_t none = 0;
    const float zero = 0;
    const void* alpha = to_int32_ ? static_cast<const void*>(&one) : &scale_;
    const void* beta = to_int32_ ? static_cast<const void*>(&none) : &zero;
    return cublasLtMatmul(handle_, operation_, alpha, channels, a_, rows, b_, beta, dst, d_, dst,
                          d_, &best_.algo, workspace_.as<>(), kWorkspace,
                          stream) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  bool Make(const PeerProblem& problem) {
    const auto m = static_cast<uint64_t>(problem.channels);
    const auto n = static_cast<uint64_t>(problem.rows);
    const auto k = static_cast<uint64_t>(problem.depth);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtMatmulPreference_t preference = nullptr;
    int found = 0;
    const size_t bytes = kWorkspace;
    bool good =
        cublasLtCreate(&handle_) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32I,
                                 to_int32_ ? CUDA_R_32I : CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                       sizeof transposed) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatrixLayoutCreate(&a_, CUDA_R_8I, k, m, problem.depth) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatrixLayoutCreate(&b_, CUDA_R_8I, k, n, problem.depth) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatrixLayoutCreate(&d_, to_int32_ ? CUDA_R_32I : CUDA_R_8I, m, n,
                                   problem.channels) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &bytes, sizeof bytes) == CUBLAS_STATUS_SUCCESS;
    good = good && cublasLtMatmulAlgoGetHeuristic(handle_, operation_, a_, b_, d_, d_, preference,
                                                  1, &best_, &found) == CUBLAS_STATUS_SUCCESS;
    if (preference != nullptr) (void)cublasLtMatmulPreferenceDestroy(preference);
    return good && found > 0;
  }

  bool to_int32_;
  float scale_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr;  // the channels, as depth x channels by columns
  cublasLtMatrixLayout_t b_ = nullptr;  // the rows, as depth x rows by columns
  cublasLtMatrixLayout_t d_ = nullptr;  // channels x rows by columns
  cublasLtMatmulHeuristicResult_t best_{};
  Buffer workspace_{kWorkspace};
  bool works_;  // last: made from the others
};

}  // namespace

void AddCublasLt(const PeerProblem& problem, PeerList& list) {
  list.push_back(std::make_unique<CublasLt>(problem, Epilogue::kInt32));
  list.push_back(std::make_unique<CublasLt>(problem, Epilogue::kOneScale));
}

}  // namespace intaglio::bench
