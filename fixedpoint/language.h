// The language that all headers need, so that compilers of another say so first.
#ifndef INTAGLIO_FIXEDPOINT_LANGUAGE_H_
#define INTAGLIO_FIXEDPOINT_LANGUAGE_H_

#if __cplusplus < 202002L
#error "Intaglio needs C++20: compile with -std=c++20 or later"
#endif

#endif  // INTAGLIO_FIXEDPOINT_LANGUAGE_H_
