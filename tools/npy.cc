#include "intaglio/tools/npy.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::tools {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMostHead = size_t{1} << 17;  // of a file that is read in parts
constexpr size_t kAlignment = 64;  // of the data in a written file, as NumPy writes them

struct TypeName {
  std::string_view descr;
  Type type;
};
constexpr TypeName kTypes[] = {
    {"|i1", Type::kInt8},  {"<i1", Type::kInt8},   {"|u1", Type::kUInt8},   {"<u1", Type::kUInt8},
    {"<i2", Type::kInt16}, {"<i4", Type::kInt32},  {"<f4", Type::kFloat32}, {"<i8", Type::kInt64},
    {"|b1", Type::kBool},  {"<u2", Type::kUInt16},
};

// The header is a Python dictionary literal with three known keys: {'descr': '<f4',
// 'fortran_order': False, 'shape': (1, 2), }. A cursor over it; every step says whether it matched.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool Take(char c) {
    SkipSpace();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> Quoted() {
    SkipSpace();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inner = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inner;
  }

  std::optional<int64_t> Number() {
    SkipSpace();
    int64_t value = 0;
    size_t digits = 0;
    for (; digits < text_.size() && std::isdigit(static_cast<unsigned char>(text_[digits]));
         ++digits) {
      if (value > (std::numeric_limits<int64_t>::max() - 9) / 10) return std::nullopt;
      value = value * 10 + (text_[digits] - '0');
    }
    if (digits == 0) return std::nullopt;
    text_.remove_prefix(digits);
    return value;
  }

  bool AtEnd() {
    SkipSpace();
    return text_.empty();
  }

 private:
  void SkipSpace() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front()))) {
      text_.remove_prefix(1);
    }
  }
  std::string_view text_;
};

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

std::optional<std::vector<int64_t>> ParseShape(Cursor& cursor) {
  if (!cursor.Take('(')) return std::nullopt;
  std::vector<int64_t> shape;
  while (!cursor.Take(')')) {
    const std::optional<int64_t> dim = cursor.Number();
    if (!dim || shape.size() == 32) return std::nullopt;  // 32: NumPy's own bound
    shape.push_back(*dim);
    if (cursor.Take(',')) continue;
    if (!cursor.Take(')')) return std::nullopt;
    break;
  }
  return shape;
}

std::optional<bool> ParseBool(Cursor& cursor) {
  if (cursor.TakeWord("True")) return true;
  if (cursor.TakeWord("False")) return false;
  return std::nullopt;
}

bool ParseEntry(Cursor& cursor, Header& header) {
  const std::optional<std::string_view> key = cursor.Quoted();
  if (!key || !cursor.Take(':')) return false;
  if (*key == "descr") {
    const std::optional<std::string_view> descr = cursor.Quoted();
    if (descr) header.descr = std::string(*descr);
    return descr.has_value();
  }
  if (*key == "fortran_order") return (header.fortran_order = ParseBool(cursor)).has_value();
  if (*key == "shape") return (header.shape = ParseShape(cursor)).has_value();
  return false;
}

std::optional<Header> ParseHeader(std::string_view text) {
  Cursor cursor(text);
  Header header;
  if (!cursor.Take('{')) return std::nullopt;
  while (!cursor.Take('}')) {
    if (!ParseEntry(cursor, header)) return std::nullopt;
    cursor.Take(',');
  }
  if (!cursor.AtEnd() || !header.descr || !header.fortran_order || !header.shape) {
    return std::nullopt;
  }
  return header;
}

// Where the header text and the data lie; nullopt where the file is too short for them.
struct Layout {
  size_t header_begin = 0;
  size_t data_begin = 0;
};
std::optional<Layout> FindParts(std::span<const uint8_t> bytes) {
  const size_t length_bytes = bytes[6] == 1 ? 2 : 4;
  const size_t header_begin = 8 + length_bytes;
  if (bytes.size() < header_begin) return std::nullopt;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= size_t{bytes[8 + i]} << (8 * i);
  if (length > bytes.size() - header_begin) return std::nullopt;
  return Layout{header_begin, header_begin + length};
}

std::optional<size_t> ByteSize(Type type, std::span<const int64_t> shape) {
  uint64_t size = SizeOf(type);
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(size, static_cast<uint64_t>(dim), &size)) return std::nullopt;
  }
  if (size > std::numeric_limits<size_t>::max()) return std::nullopt;
  return static_cast<size_t>(size);
}

struct NpyHead {
  NpyArray array;  // without data
  size_t data_begin = 0;
};

// `start` is the beginning of a file of `size` bytes, with the whole header.
Result<NpyHead> ParseHead(std::span<const uint8_t> start, size_t size, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (start.size() < 10 || !text.starts_with(kMagic)) {
    return InvalidArgument(name + ": not a .npy file");
  }
  if (start[6] != 1 && start[6] != 2) {
    return InvalidArgument(name + ": .npy version " + std::to_string(start[6]) +
                           " is not supported (1 and 2 are)");
  }
  const std::optional<Layout> layout = FindParts(start);
  if (!layout) return InvalidArgument(name + ": the .npy header is cut short");
  const std::optional<Header> header =
      ParseHeader(text.substr(layout->header_begin, layout->data_begin - layout->header_begin));
  if (!header) return InvalidArgument(name + ": the .npy header is malformed");
  if (*header->fortran_order) {
    return InvalidArgument(name + ": Fortran order is not supported; save the array in C order");
  }
  std::optional<Type> type;
  for (const TypeName& known : kTypes) {
    if (known.descr == *header->descr) type = known.type;
  }
  if (!type) {
    return InvalidArgument(name + ": element type '" + nn::ShortName(*header->descr) +
                           "' is not supported");
  }
  const std::optional<size_t> needed = ByteSize(*type, *header->shape);
  if (!needed || *needed != size - layout->data_begin) {
    return InvalidArgument(name + ": holds " + std::to_string(size - layout->data_begin) +
                           " bytes of data, its shape and type need " +
                           (needed ? std::to_string(*needed) : "more than fit memory"));
  }
  return NpyHead{{*type, *header->shape, {}}, layout->data_begin};
}

}  // namespace

std::string Describe(const NpyArray& array) {
  std::string text = std::string(NameOf(array.type)) + " [";
  for (size_t i = 0; i < array.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(array.shape[i]);
  }
  return text + "]";
}

Result<NpyArray> ParseNpy(std::span<const uint8_t> bytes, const std::string& name) {
  Result<NpyHead> head = ParseHead(bytes, bytes.size(), name);
  if (!head.ok()) return head.status();
  try {
    const std::span<const uint8_t> data = bytes.subspan(head->data_begin);
    head->array.data.assign(data.begin(), data.end());
    return std::move(head->array);
  } catch (const std::bad_alloc&) {
    return OutOfMemory(name + ": no memory for " + std::to_string(bytes.size() - head->data_begin) +
                       " bytes");
  }
}

Result<NpyFile> NpyFile::Open(const std::string& path) {
  Result<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  std::vector<uint8_t> start(std::min(file->bytes(), kMostHead));
  INTAGLIO_RETURN_IF_ERROR(file->Read(0, start));
  Result<NpyHead> head = ParseHead(start, file->bytes(), path);
  if (!head.ok()) return head.status();
  return NpyFile(std::move(*file), std::move(head->array), head->data_begin);
}

Result<NpyArray> ReadNpy(const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  return ParseNpy(*bytes, path);
}

Status WriteNpy(const std::string& path, Type type, std::span<const int64_t> shape,
                std::span<const uint8_t> data) {
  std::string_view descr;
  for (const TypeName& known : kTypes) {
    if (known.type == type && descr.empty()) descr = known.descr;
  }
  std::string dict = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t dim : shape) dict += std::to_string(dim) + ", ";
  if (shape.size() > 1) dict.resize(dict.size() - 2);
  if (shape.size() == 1) dict.resize(dict.size() - 1);
  dict += "), }";
  const size_t unpadded = kMagic.size() + 4 + dict.size() + 1;
  dict.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dict += '\n';
  std::string head(kMagic);
  head += '\x01';
  head += '\0';
  head += static_cast<char>(dict.size() & 0xff);
  head += static_cast<char>(dict.size() >> 8);
  head += dict;
  return WriteFile(path, {reinterpret_cast<const uint8_t*>(head.data()), head.size()}, data);
}

}  // namespace intaglio::tools
