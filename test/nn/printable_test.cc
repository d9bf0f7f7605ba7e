#include "intaglio/nn/graph/printable.h"

#include <gtest/gtest.h>

#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

TEST(Printable, LeavesTextAlone) {
  for (const char* const text : {"", "conv_1/Relu6;x:0",
                                 "Gr\xc3\xb6\xc3\x9f"
                                 "e",
                                 "\xe7\x8c\xab", "\xf0\x9f\x90\x88", "a\\x1b", "100 % ~"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(Printable("a\nb\rc\td"), "a\\x0ab\\x0dc\\x09d");
  EXPECT_EQ(Printable("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "CSI in one character";
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "txt.exe"),
            "\\xe2\\x80\\xaetxt.exe")
      << "right to left";
  EXPECT_EQ(Printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8") << "a line's end";
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(Printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(Printable("\xc3"), "\\xc3") << "cut short";
  EXPECT_EQ(Printable("\xc3("), "\\xc3(");
  EXPECT_EQ(Printable("\xc0\x8a\xe0\x80\x8a\xf0\x80\x80\x8a"),
            "\\xc0\\x8a\\xe0\\x80\\x8a\\xf0\\x80\\x80\\x8a")
      << "longer than needed";
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past the last character";
}

TEST(Printable, TwiceIsOnce) {
  const std::string once = Printable("a\x1b\xff\\");
  EXPECT_EQ(Printable(once), once);
}

TEST(ShortName, EndsBetweenCharacters) {
  EXPECT_EQ(ShortName(std::string(100, 'n')), std::string(100, 'n'));
  EXPECT_EQ(ShortName(std::string(101, 'n')), std::string(100, 'n') + "...");
  EXPECT_EQ(ShortName(std::string(99, 'n') + "\u20ac and more"), std::string(99, 'n') + "...");
  EXPECT_EQ(ShortName(std::string(200, '\x80')), "...");
}

}  // namespace
}  // namespace intaglio::nn
