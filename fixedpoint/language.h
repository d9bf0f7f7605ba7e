// Checks that the language is C++20, which all headers need, so that a compiler of an older
// language says so first.
#ifndef INTAGLIO_FIXEDPOINT_LANGUAGE_H_
#define INTAGLIO_FIXEDPOINT_LANGUAGE_H_

#if __cplusplus < 202002L
#error "Intaglio needs C++20: compile with -std=c++20 or later"
#endif

#endif  // INTAGLIO_FIXEDPOINT_LANGUAGE_H_
