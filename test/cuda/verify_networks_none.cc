#include "intaglio/test/cuda/verify.h"

namespace intaglio::test {

Tally VerifyNetworks(const cuda::Stream&) { return {}; }  // nn is not built

}  // namespace intaglio::test
