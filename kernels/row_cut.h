// How whole tiles share the rows of a call.
#ifndef INTAGLIO_KERNELS_ROW_CUT_H_
#define INTAGLIO_KERNELS_ROW_CUT_H_

namespace intaglio {

inline constexpr int kGroupsWorthRepeating = 64;  // a row

// The first `six` rows go by tiles of six, the next `four` by tiles of four; the last tile begins
// within the one before where it would be short. Others are left over, to be finished by way of
// memory.
struct RowCut {
  int six;
  int four;
};

// By tiles of six alone: the last one does rows again, unless that takes longer, by the depth, than
// what is left over.
constexpr RowCut CutBySixes(int count, int groups) {
  const int rest = count % 6;
  const bool repeats = count > rest && (6 - rest) * groups <= kGroupsWorthRepeating;
  return {repeats ? count : count - rest, 0};
}

// Sixes and fours make up every even number but two. Of an odd one, a row is done again or left
// over, by what takes less.
constexpr RowCut CutRows(int count, int groups) {
  const int rest = count % 6;
  const bool repeats = count > rest && groups <= kGroupsWorthRepeating;
  switch (rest) {
    case 2:
      return count > rest ? RowCut{count - 8, 8} : RowCut{0, 0};
    case 3:
      return {count - 3, repeats ? 3 : 0};
    case 4:
      return {count - 4, 4};
    case 5:
      return repeats ? RowCut{count, 0} : RowCut{count - 5, 4};
    default:
      return {count - rest, 0};
  }
}

// At least six rows, of which none is left over; without tiles of four unless `fours`.
constexpr RowCut CutWindows(int count, bool fours) {
  if (!fours) return {count, 0};
  return count % 6 == 1 ? RowCut{count - 7, 7} : CutRows(count, 0);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ROW_CUT_H_
