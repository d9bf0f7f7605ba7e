#include "intaglio/nn/formats/onnx/external_data.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn::onnx {
namespace {

struct Place {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<uint64_t> ParseCount(const std::string& text, const char* key) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && last == end) return value;
  return InvalidArgument("external data: " + std::string(key) + " '" + ShortName(text) +
                         "' is no count of bytes");
}

Status ReadEntry(const StringStringEntryProto& entry, Place& place) {
  const std::string& key = entry.key();
  if (key == "location") {
    place.location = entry.value();
    return {};
  }
  if (key == "checksum") return {};
  if (key != "offset" && key != "length") {
    return InvalidArgument("external data has the key '" + ShortName(key) +
                           "'; location, offset, length and checksum are known");
  }
  const Result<uint64_t> count = ParseCount(entry.value(), key.c_str());
  if (!count.ok()) return count.status();
  if (key == "offset") {
    place.offset = *count;
  } else {
    place.length = *count;
  }
  return {};
}

Result<Place> PlaceOf(const TensorProto& tensor) {
  Place place;
  for (const StringStringEntryProto& entry : tensor.external_data()) {
    INTAGLIO_RETURN_IF_ERROR(ReadEntry(entry, place));
  }
  if (place.location.empty()) return InvalidArgument("external data has no location");
  return place;
}

// Refuses what cannot be a path beneath the folder before anything is opened.
Status CheckLocation(const std::string& location) {
  const auto bad = [&](const char* why) {
    return InvalidArgument("external data '" + ShortName(location) + "' " + why);
  };
  if (location.find('\0') != std::string::npos) return bad("has a zero byte in its path");
  if (location[0] == '/') return bad("is an absolute path");
  for (size_t begin = 0; begin <= location.size();) {
    const size_t end = std::min(location.find('/', begin), location.size());
    if (location.substr(begin, end - begin) == "..") return bad("leaves the model's folder");
    begin = end + 1;
  }
  return {};
}

}  // namespace

Result<const MappedFile*> ExternalData::Open(const std::string& location) {
  if (const auto found = open_.find(location); found != open_.end()) return &found->second;
  INTAGLIO_RETURN_IF_ERROR(CheckLocation(location));
  if (folder_.empty()) {
    return InvalidArgument("external data '" + ShortName(location) +
                           "' is not given: a model in memory has no folder");
  }
  Result<MappedFile> file = OpenBeneath(folder_, location, copy_);
  if (!file.ok()) {
    return Status(file.status().code(),
                  "external data '" + ShortName(location) + "': " + file.status().message());
  }
  return &open_.emplace(location, std::move(*file)).first->second;
}

Result<MappedFile> ExternalData::Find(const TensorProto& tensor, size_t bytes) {
  const Result<Place> place = PlaceOf(tensor);
  if (!place.ok()) return place.status();
  if (place->length && *place->length != bytes) {
    return InvalidArgument("external data has " + std::to_string(*place->length) +
                           " bytes; the type and the shape need " + std::to_string(bytes));
  }
  const Result<const MappedFile*> file = Open(place->location);
  if (!file.ok()) return file.status();
  const size_t size = (*file)->bytes.size();
  if (place->offset > size || bytes > size - place->offset) {
    return InvalidArgument("external data '" + ShortName(place->location) + "' ends at byte " +
                           std::to_string(size) + ", before the tensor's " + std::to_string(bytes) +
                           " bytes from " + std::to_string(place->offset) + " on");
  }
  const auto offset = static_cast<size_t>(place->offset);
  return MappedFile{(*file)->bytes.subspan(offset, bytes), (*file)->owner};
}

}  // namespace intaglio::nn::onnx
