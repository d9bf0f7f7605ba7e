// How often tests draw at random.
#ifndef INTAGLIO_TEST_ROUNDS_H_
#define INTAGLIO_TEST_ROUNDS_H_

namespace intaglio::test {

#if defined(__SANITIZE_THREAD__)
#define INTAGLIO_TEST_FOR_RACES 1
#elif defined(__SANITIZE_ADDRESS__)
#define INTAGLIO_TEST_FOR_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define INTAGLIO_TEST_FOR_RACES 1
#elif __has_feature(address_sanitizer)
#define INTAGLIO_TEST_FOR_ADDRESSES 1
#endif
#endif

// `rounds`, or for the thread sanitizer a quarter: it makes each take ten times as long, and sees a
// race in any that has threads.
constexpr int Rounds(int rounds) {
#ifdef INTAGLIO_TEST_FOR_RACES
  return rounds / 4;
#else
  return rounds;
#endif
}

// `rounds` of a test that compares a search with all that could be found, or for a sanitizer an
// eighth: other builds draw all, and a sanitizer makes each take ten times as long.
constexpr int RoundsOfSearch(int rounds) {
#if defined(INTAGLIO_TEST_FOR_RACES) || defined(INTAGLIO_TEST_FOR_ADDRESSES)
  return rounds / 8;
#else
  return rounds;
#endif
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_ROUNDS_H_
