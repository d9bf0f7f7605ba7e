#include "intaglio/test/kernels/cuda_emulator.h"

namespace intaglio::test {

template void Emulate(KernelId id, const DeviceProduct& p, const StandardFinish& finish);

}  // namespace intaglio::test
