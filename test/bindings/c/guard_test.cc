// Whatever is thrown becomes a status.
#include "intaglio/bindings/c/guard.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

template <class Exception>
Answer Thrown(const Exception& exception) {
  return c::Guard([&]() -> Status { throw exception; });
}

TEST(CGuard, TurnsExceptionsIntoStatuses) {
  EXPECT_TRUE(Fails(Thrown(std::bad_alloc()), IT_OUT_OF_MEMORY, "memory ran out"));
  EXPECT_TRUE(Fails(Thrown(std::length_error("")), IT_OUT_OF_MEMORY, "address space"));
  EXPECT_TRUE(Fails(Thrown(std::runtime_error("a fault")), IT_INTERNAL, "a fault"));
  EXPECT_TRUE(Fails(Thrown(5), IT_INTERNAL, "an exception of an unknown type"));
  int handle = 0;
  int* out = &handle;
  const Answer answer = c::Create(&out, []() -> Result<std::unique_ptr<int>> { throw 5; });
  EXPECT_EQ(answer.code, IT_INTERNAL);
  EXPECT_EQ(out, nullptr);
}

TEST(CGuard, KeepsCodesAndMessages) {
  EXPECT_TRUE(IsOk(c::Guard([] { return Status(); })));
  EXPECT_TRUE(IsInvalid(c::Guard([] { return InvalidArgument("one"); }), "one"));
  EXPECT_TRUE(Fails(c::Guard([] { return Unsupported("two"); }), IT_UNSUPPORTED, "two"));
  EXPECT_TRUE(Fails(c::Guard([] { return OutOfMemory("three"); }), IT_OUT_OF_MEMORY, "three"));
  EXPECT_TRUE(Fails(c::Guard([] { return IoError("four"); }), IT_IO_ERROR, "four"));
}

}  // namespace
}  // namespace intaglio::test
