// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/json_safetensors.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/json_text.hpp"

namespace lacuna {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLength = 8;                 // bytes of the length of the header
constexpr std::uint64_t kLongestHeader = 100000000;  // the format's own limit

std::uint64_t length_of(PartFile& file) { return number_of(file.part(0, kLength)); }

bool is_list(const Json& json, std::size_t size) {
  if (!json.is_array() || (size != 0 && json.size() != size)) return false;
  for (const Json& each : json) {
    if (!each.is_number_unsigned()) return false;
  }
  return true;
}

TensorPlace place_of(const std::string& name, const Json& json, PartFile& file,
                     std::uint64_t start) {
  const auto fail = [&](const char* found) {
    refuse_array(file.path() + ":" + name, found, "dtype, shape and data_offsets in the file");
  };
  const bool whole = json.is_object() && json.contains("dtype") && json["dtype"].is_string() &&
                     json.contains("shape") && is_list(json["shape"], 0) &&
                     json.contains("data_offsets") && is_list(json["data_offsets"], 2);
  if (!whole) fail("a tensor that is not described");
  TensorPlace place;
  place.header.type_name = quotable(json["dtype"].get<std::string>());
  place.header.type = find_safetensors_type(place.header.type_name);
  place.header.shape = json["shape"].get<std::vector<std::uint64_t>>();
  const auto begin = json["data_offsets"][0].get<std::uint64_t>();
  const auto end = json["data_offsets"][1].get<std::uint64_t>();
  if (begin > end || end > file.size() - start) fail("a tensor outside of the file");
  const ElementType* const type = place.header.type;
  if (type != nullptr &&
      (place.header.count() > end - begin || place.header.count() * type->size != end - begin)) {
    fail("a tensor of another size than its shape");
  }
  place.at = start + begin;
  return place;
}

}  // namespace

bool is_safetensors(PartFile& file) {
  const std::uint64_t length = file.size() > kLength ? length_of(file) : 0;
  return length >= 2 && length <= kLongestHeader && length <= file.size() - kLength &&
         file.part(kLength, 1) == "{";
}

std::map<std::string, TensorPlace> read_safetensors(PartFile& file) {
  if (!is_safetensors(file)) {
    refuse_array(file.path(), "bytes that are no safetensors", "a whole safetensors file");
  }
  const std::uint64_t length = length_of(file);
  const Json json = parse_json(file.part(kLength, length), file.path());
  if (!json.is_object()) refuse_array(file.path(), "a header that is no object", "safetensors");
  std::map<std::string, TensorPlace> tensors;
  for (const auto& [name, value] : json.items()) {
    if (name == "__metadata__") continue;
    tensors.emplace(name, place_of(name, value, file, kLength + length));
  }
  return tensors;
}

std::map<std::string, std::string> read_shards(PartFile& file) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 28U;
  const Json json = parse_json(file.part(0, kMost), file.path());
  const bool has =
      json.is_object() && json.contains("weight_map") && json["weight_map"].is_object();
  if (!has) refuse_array(file.path(), "JSON without weight_map", "an index of safetensors");
  std::map<std::string, std::string> shards;
  for (const auto& [name, shard] : json["weight_map"].items()) {
    const std::string text = shard.is_string() ? shard.get<std::string>() : "";
    if (text.empty() || text.find('/') != std::string::npos) {
      refuse_array(file.path() + ":" + name, shard.dump(), "the name of a file beside the index");
    }
    shards.emplace(name, text);
  }
  return shards;
}

}  // namespace lacuna
