#include "intaglio/tools/npy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace intaglio::tools {
namespace {

// A version-1 file with this dictionary, as NumPy would write it but for the padding.
std::vector<uint8_t> File(const std::string& dict, const std::string& data, char version = 1) {
  std::string file = std::string("\x93NUMPY", 6) + version + '\0';
  const size_t length_bytes = version == 1 ? 2 : 4;
  for (size_t i = 0; i < length_bytes; ++i) {
    file += static_cast<char>((dict.size() >> (8 * i)) & 0xff);
  }
  file += dict + data;
  return {file.begin(), file.end()};
}

std::string Error(const std::vector<uint8_t>& bytes) {
  const Result<NpyArray> array = ParseNpy(bytes, "a.npy");
  return array.ok() ? "" : array.status().message();
}

TEST(Npy, ReadsWhatNumPyWrites) {
  const auto bytes = File("{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2), }   \n",
                          std::string("\x01\x00\xff\xff", 4));
  const Result<NpyArray> array = ParseNpy(bytes, "a.npy");
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->type, Type::kInt16);
  EXPECT_EQ(array->shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(array->data, (std::vector<uint8_t>{1, 0, 255, 255}));
  EXPECT_EQ(Describe(*array), "int16 [1, 2]");
}

TEST(Npy, ReadsEveryOrderOfKeysScalarsAndVersion2) {
  EXPECT_EQ(Error(File("{\"shape\": (), 'fortran_order': False, 'descr': '|u1'}", "x")), "");
  EXPECT_EQ(Error(File("{'descr':'<f4','fortran_order':False,'shape':(1,),}", "abcd")), "");
  EXPECT_EQ(Error(File("{'descr':'<f4','fortran_order':False,'shape':(0, 3)}", "")), "");
  EXPECT_EQ(Error(File("{'descr':'|i1','fortran_order':False,'shape':(2,)}", "ab", 2)), "");
}

TEST(Npy, RefusesWhatItCannotRead) {
  EXPECT_EQ(Error({}), "a.npy: not a .npy file");
  EXPECT_EQ(Error(File("", "", 3)), "a.npy: .npy version 3 is not supported (1 and 2 are)");
  EXPECT_EQ(Error(File("{'descr':'<f4','fortran_order':True,'shape':(1,)}", "abcd")),
            "a.npy: Fortran order is not supported; save the array in C order");
  EXPECT_EQ(Error(File("{'descr':'>f4','fortran_order':False,'shape':(1,)}", "abcd")),
            "a.npy: element type '>f4' is not supported");
  // Messages are short, whatever stands in the file.
  const std::string descr(9999, 'x');
  EXPECT_EQ(Error(File("{'descr':'" + descr + "','fortran_order':False,'shape':(1,)}", "abcd")),
            "a.npy: element type '" + descr.substr(0, 100) + "...' is not supported");
  EXPECT_EQ(Error(File("{'descr':'<f4','fortran_order':False,'shape':(2,)}", "abcd")),
            "a.npy: holds 4 bytes of data, its shape and type need 8");
  EXPECT_EQ(
      Error(File("{'descr':'<f4','fortran_order':False,'shape':(4611686018427387904, 4)}", "")),
      "a.npy: holds 0 bytes of data, its shape and type need more than fit memory");
}

TEST(Npy, RefusesMalformedHeaders) {
  for (const char* const dict :
       {"", "{", "}", "{'descr'}", "{'descr': '<f4'}",
        "{'descr':'<f4','fortran_order':0,'shape':()}",
        "{'descr':'<f4','fortran_order':False,'shape':(1,2}",
        "{'descr':'<f4','fortran_order':False,'shape':(-1,)}",
        "{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}",
        "{'descr':'<f4','fortran_order':False,'shape':()} x",
        "{'descr':'<f4','fortran_order':False,'shape':(),'more':1}",
        "{'descr':[('a','<f4')],'fortran_order':False,'shape':()}", "{'descr':'<f4"}) {
    EXPECT_EQ(Error(File(dict, "")), "a.npy: the .npy header is malformed") << dict;
  }
  std::vector<uint8_t> file = File("{'descr':'|u1','fortran_order':False,'shape':()}", "x");
  for (size_t length = 0; length < file.size(); ++length) {
    EXPECT_NE(Error({file.begin(), file.begin() + static_cast<ptrdiff_t>(length)}), "");
  }
}

TEST(Npy, WritesWhatItReads) {
  const std::string path = testing::TempDir() + "intaglio_npy_test.npy";
  for (const Type type : {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32, Type::kInt64,
                          Type::kFloat32, Type::kBool, Type::kUInt16}) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {3}, {2, 3}, {1, 0, 4}}) {
      size_t size = SizeOf(type);
      for (const int64_t dim : shape) size *= static_cast<size_t>(dim);
      std::vector<uint8_t> data(size);
      for (size_t i = 0; i < size; ++i) data[i] = static_cast<uint8_t>(i);
      ASSERT_TRUE(WriteNpy(path, type, shape, data).ok());
      const Result<NpyArray> array = ReadNpy(path);
      ASSERT_TRUE(array.ok()) << array.status().message();
      EXPECT_EQ(array->type, type);
      EXPECT_EQ(array->shape, shape);
      EXPECT_EQ(array->data, data);
    }
  }
  std::remove(path.c_str());
}

TEST(Npy, NamesFilesThatAreNotThere) {
  EXPECT_EQ(ReadNpy("/nowhere/a.npy").status().message(),
            "/nowhere/a.npy: cannot open: No such file or directory");
  EXPECT_EQ(WriteNpy("/nowhere/a.npy", Type::kInt8, {}, {}).message(),
            "/nowhere/a.npy: cannot create: No such file or directory");
}

}  // namespace
}  // namespace intaglio::tools
