#include "intaglio/gemm/plan/winograd_groups.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

template <class T>
const T* FilterOf(const ConstMatrix& filters, int output) {
  return static_cast<const T*>(filters.data) + output * filters.stride;
}

int32_t ZeroPointOf(std::span<const int32_t> zero_points, int output) {
  return zero_points[zero_points.size() > 1 ? static_cast<size_t>(output) : 0];
}

template <class T>
int Largest(const ConstMatrix& filters, std::span<const int32_t> zero_points) {
  int largest = 0;
  for (int o = 0; o < filters.cols; ++o) {
    const T* const filter = FilterOf<T>(filters, o);
    const int32_t zero_point = ZeroPointOf(zero_points, o);
    for (int i = 0; i < filters.rows; ++i) {
      largest = std::max(largest, std::abs(filter[i] - zero_point));
    }
  }
  return largest;
}

// sums[c]: of |w| of the channels before c, of one output.
template <class T>
void SumMagnitudes(const T* filter, int32_t zero_point, int taps, int channels,
                   std::vector<int32_t>& each, std::vector<int64_t>& sums) {
  std::fill(each.begin(), each.end(), 0);
  for (int tap = 0; tap < taps; ++tap, filter += channels) {
    for (int c = 0; c < channels; ++c)
      each[static_cast<size_t>(c)] += std::abs(filter[c] - zero_point);
  }
  int64_t sum = 0;
  for (size_t c = 0; c < each.size(); ++c) {
    sums[c] = sum;
    sum += each[c];
  }
  sums.back() = sum;
}

bool IsExact(const std::vector<int64_t>& sums, int channels, int groups, int64_t most) {
  for (int g = 0; g < groups; ++g) {
    const auto first = static_cast<size_t>(GroupBegin(channels, g, groups));
    const auto last = static_cast<size_t>(GroupBegin(channels, g + 1, groups));
    if (sums[last] - sums[first] > most) return false;
  }
  return true;
}

// The memory for sums of K outputs of C channels would be 8 K C bytes, so each output is looked at
// on its own, with the groups that those before it need; a finer cut begins its groups elsewhere,
// and all outputs are looked at again.
template <class T>
int Count(const ConstMatrix& filters, std::span<const int32_t> zero_points,
          const WinogradForm& form) {
  const int channels = filters.rows / form.taps();
  std::vector<int32_t> each(static_cast<size_t>(channels));
  std::vector<int64_t> sums(each.size() + 1);
  int groups = form.blocks > 1 ? 1 : (channels - 1) / kMostGroupChannels + 1;
  int proven = 0;  // outputs one after the other, for as many groups
  for (int o = 0; proven < filters.cols; o = (o + 1) % filters.cols) {
    SumMagnitudes(FilterOf<T>(filters, o), ZeroPointOf(zero_points, o), form.taps(), channels, each,
                  sums);
    ++proven;
    while (!IsExact(sums, channels, groups, form.most_magnitude)) {
      ++groups;
      proven = 1;
    }
  }
  return groups;
}

}  // namespace

int LargestWeight(const ConstMatrix& filters, std::span<const int32_t> zero_points, int most) {
  int64_t possible = 0;
  for (const int32_t z : zero_points) {
    possible = std::max(possible, LargestDistance(filters.type, z));
  }
  if (possible <= most) return static_cast<int>(possible);
  return filters.type == Type::kInt8 ? Largest<int8_t>(filters, zero_points)
                                     : Largest<uint8_t>(filters, zero_points);
}

int CountWinogradGroups(const ConstMatrix& filters, std::span<const int32_t> zero_points,
                        const WinogradForm& form) {
  return filters.type == Type::kInt8 ? Count<int8_t>(filters, zero_points, form)
                                     : Count<uint8_t>(filters, zero_points, form);
}

}  // namespace intaglio
