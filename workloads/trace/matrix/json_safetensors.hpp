// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workloads/trace/matrix/byte_source.hpp"
#include "workloads/trace/matrix/yaml_npy.hpp"

namespace lacuna {

/// A tensor of a safetensors file.
struct TensorPlace {
  ArrayHeader header;
  std::uint64_t at = 0;  // of its first byte in the file
};

/// True if the file begins with a length and a JSON object of that length.
bool is_safetensors(PartFile& file);

/// Its tensors by name. TraceError if the header is none, or says what the file does not hold.
std::map<std::string, TensorPlace> read_safetensors(PartFile& file);

/// The shard, a file name, of each tensor of an index. TraceError if it is none.
std::map<std::string, std::string> read_shards(PartFile& file);

}  // namespace lacuna
