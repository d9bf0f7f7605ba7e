// Where there is no cuBLASLt.
#include "intaglio/bench/cuda/cublaslt.h"

namespace intaglio::bench {

struct CublasLt::State {};

CublasLt::CublasLt(int, int, int, Type) {}
CublasLt::~CublasLt() = default;
bool CublasLt::works() const { return false; }
bool CublasLt::Run(const int8_t*, const int8_t*, void*, cudaStream_t) const { return false; }

}  // namespace intaglio::bench
