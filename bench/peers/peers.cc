#include "intaglio/bench/peers/peers.h"

// One line per adapter; CMake defines INTAGLIO_PEER_<NAME> for each that it compiles.
#ifdef INTAGLIO_PEER_ONEDNN
#define INTAGLIO_ROW_ONEDNN(ROW) ROW(kPeerOneDnn) ROW(kPeerOneDnnFloat)
#else
#define INTAGLIO_ROW_ONEDNN(ROW)
#endif
#ifdef INTAGLIO_PEER_XNNPACK
#define INTAGLIO_ROW_XNNPACK(ROW) ROW(kPeerXnnpack)
#else
#define INTAGLIO_ROW_XNNPACK(ROW)
#endif
#ifdef INTAGLIO_PEER_FBGEMM
#define INTAGLIO_ROW_FBGEMM(ROW) ROW(kPeerFbgemm)
#else
#define INTAGLIO_ROW_FBGEMM(ROW)
#endif
#ifdef INTAGLIO_PEER_RUY
#define INTAGLIO_ROW_RUY(ROW) ROW(kPeerRuy)
#else
#define INTAGLIO_ROW_RUY(ROW)
#endif
#ifdef INTAGLIO_PEER_GEMMLOWP
#define INTAGLIO_ROW_GEMMLOWP(ROW) ROW(kPeerGemmlowp)
#else
#define INTAGLIO_ROW_GEMMLOWP(ROW)
#endif

#define INTAGLIO_PEERS(ROW) \
  INTAGLIO_ROW_ONEDNN(ROW)  \
  INTAGLIO_ROW_XNNPACK(ROW) \
  INTAGLIO_ROW_FBGEMM(ROW)  \
  INTAGLIO_ROW_RUY(ROW)     \
  INTAGLIO_ROW_GEMMLOWP(ROW)

namespace intaglio::bench {

#define INTAGLIO_DECLARE(peer) extern const Peer peer;
INTAGLIO_PEERS(INTAGLIO_DECLARE)
#undef INTAGLIO_DECLARE

const std::vector<const Peer*>& Peers() {
#define INTAGLIO_ADDRESS(peer) &peer,
  static const std::vector<const Peer*> peers = {INTAGLIO_PEERS(INTAGLIO_ADDRESS)};
#undef INTAGLIO_ADDRESS
  return peers;
}

std::string AbsentPeers() { return INTAGLIO_ABSENT_PEERS; }

}  // namespace intaglio::bench
