// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/array_file.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "sim/base/nearest.hpp"
#include "workloads/trace/matrix/array_numbers.hpp"
#include "workloads/trace/matrix/json_safetensors.hpp"
#include "workloads/trace/matrix/npy_zip.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

namespace {

enum class Kind { none, npy, npz, safetensors, index };

Kind kind_of(PartFile& file) {
  constexpr std::uint64_t kLooked = 4096;
  const std::string head = file.part(0, kLooked);
  if (head.rfind("\x93NUMPY", 0) == 0) return Kind::npy;
  if (head.rfind("PK\x03\x04", 0) == 0 || head.rfind("PK\x05\x06", 0) == 0) return Kind::npz;
  if (is_safetensors(file)) return Kind::safetensors;
  const bool index = head.rfind('{', 0) == 0 && file.path().size() > 11 &&
                     file.path().compare(file.path().size() - 11, 11, ".index.json") == 0;
  return index ? Kind::index : Kind::none;
}

/// Lists at most a few of many.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : ", ") + quotable(names[i]);
  }
  return text + (names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "");
}

[[noreturn]] void refuse_member(const std::string& path, const std::string& member,
                                const std::vector<std::string>& names) {
  const std::string hint = member.empty() ? "" : nearest(member, names);
  refuse_array(path,
               names.empty()    ? "no array"
               : member.empty() ? "several arrays"
                                : fmt::format("no array '{}'", quotable(member)),
               fmt::format("one of {}{}", listed(names),
                           hint.empty() ? "" : fmt::format("; did you mean '{}'?", hint)));
}

/// The name among `names` that is meant; the only one if none is.
template <class Named>
const typename Named::value_type& chosen(const Named& all, const std::string& member,
                                         const std::string& path) {
  if (member.empty() && all.size() == 1) return *all.begin();
  std::vector<std::string> names;
  for (const auto& each : all) {
    if (!member.empty() && each.first == member) return each;
    names.push_back(each.first);
  }
  refuse_member(path, member, names);
}

/// The members that are arrays, by their names without ".npy".
std::map<std::string, ZipMember> arrays_of_zip(PartFile& file) {
  std::map<std::string, ZipMember> arrays;
  for (ZipMember& member : zip_members(file)) {
    const std::string ending = ".npy";
    std::string name = member.name;
    if (name.size() >= 8 && name.compare(name.size() - 8, 8, "data.pkl") == 0) {
      refuse_array(file.path(), "a checkpoint of pickled objects",
                   "safetensors; save_file of safetensors.torch writes it");
    }
    if (name.size() > ending.size() && name.compare(name.size() - 4, 4, ending) == 0) {
      name.resize(name.size() - ending.size());
    }
    arrays.emplace(std::move(name), std::move(member));
  }
  return arrays;
}

OpenArray open_member(PartFile& file, const std::string& name, const ZipMember& member) {
  OpenArray array;
  array.path = file.path() + ":" + quotable(name);
  array.numbers = unzip(file, member);
  array.header = read_npy_header(*array.numbers, array.path);
  return array;
}

bool is_scipy(const std::map<std::string, ZipMember>& members) {
  return members.count("format") != 0 && members.count("shape") != 0;
}

OpenArray open_tensor(PartFile& file, const std::string& member) {
  const std::map<std::string, TensorPlace> tensors = read_safetensors(file);
  const auto& [name, tensor] = chosen(tensors, member, file.path());
  OpenArray array;
  array.path = file.path() + ":" + quotable(name);
  array.header = tensor.header;
  if (array.header.type == nullptr) {
    refuse_array(array.path, "type " + quotable(tensor.type), safetensors_types());
  }
  array.numbers = file.source(tensor.at, array.header.count() * array.header.type->size);
  return array;
}

PartFile open_shard(PartFile& index, const std::string& member) {
  const std::map<std::string, std::string> shards = read_shards(index);
  const std::string& shard = chosen(shards, member, index.path()).second;
  return PartFile((std::filesystem::path(index.path()).parent_path() / shard).string());
}

/// Opens an array of a file that is none of SciPy and no index.
OpenArray open_array(PartFile& file, const std::string& member) {
  switch (kind_of(file)) {
    case Kind::npz: {
      const auto members = arrays_of_zip(file);
      const auto& [name, place] = chosen(members, member, file.path());
      return open_member(file, name, place);
    }
    case Kind::safetensors:
      return open_tensor(file, member);
    default: {
      OpenArray array;
      array.path = file.path();
      array.numbers = file.source(0, file.size());
      array.header = read_npy_header(*array.numbers, array.path);
      return array;
    }
  }
}

void check_matrix(const OpenArray& array) {
  const std::vector<std::uint64_t>& shape = array.header.shape;
  const auto is_side = [](std::uint64_t side) { return side >= 1 && side <= kMostSide; };
  if (shape.size() == 2 && is_side(shape[0]) && is_side(shape[1])) return;
  refuse_array(array.path, fmt::format("shape ({})", fmt::join(shape, ", ")),
               "a matrix, two sides from 1 to 2^31 - 1");
}

Mask read_mask(OpenArray array) {
  check_matrix(array);
  const ElementType& type = *array.header.type;
  const bool turned = array.header.by_columns;
  Mask mask;
  mask.rows = static_cast<std::uint32_t>(array.header.shape[turned ? 1 : 0]);
  mask.cols = static_cast<std::uint32_t>(array.header.shape[turned ? 0 : 1]);
  mask.offsets.push_back(0);
  std::uint32_t col = 0;
  for_each_number(array, [&](std::uint64_t, std::uint64_t bits) {
    if (!type.is_zero(bits)) mask.columns.push_back(col);
    if (++col != mask.cols) return;
    col = 0;
    mask.offsets.push_back(mask.columns.size());
  });
  return turned ? mask.transposed() : mask;
}

/// Does something with the file that has the array: the shard of an index, or `file` itself.
template <class Do>
auto in_shard(PartFile& file, const std::string& member, Do&& act) {
  if (kind_of(file) != Kind::index) return act(file);
  PartFile shard = open_shard(file, member);
  return act(shard);
}

}  // namespace

ArrayName split_array_name(const std::string& path) {
  for (const std::string ending : {".npz", ".safetensors", ".safetensors.index.json"}) {
    const std::size_t mark = path.rfind(ending + ":");
    if (mark == std::string::npos) continue;
    const std::size_t end = mark + ending.size();
    return {path.substr(0, end), path.substr(end + 1)};
  }
  return {path, ""};
}

std::unique_ptr<PartFile> open_arrays(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return nullptr;
  auto arrays = std::make_unique<PartFile>(file);
  return kind_of(*arrays) == Kind::none ? nullptr : std::move(arrays);
}

std::vector<std::string> shards_of(PartFile& index) {
  std::set<std::string> files;
  for (const auto& [name, file] : read_shards(index)) files.insert(file);
  return {files.begin(), files.end()};
}

bool holds_tensors(PartFile& file) {
  const Kind kind = kind_of(file);
  return kind == Kind::safetensors || kind == Kind::index;
}

std::vector<ArrayEntry> matrices_of(PartFile& file) {
  std::vector<ArrayEntry> matrices;
  const auto add = [&](const std::string& member, const std::vector<std::uint64_t>& shape) {
    if (shape.size() == 2) matrices.push_back({member, shape[0], shape[1]});
  };
  const Kind kind = kind_of(file);
  if (kind == Kind::npz) {
    const auto members = arrays_of_zip(file);
    if (is_scipy(members)) return {sides_of_array(file, "")};
    for (const auto& [name, member] : members) {
      add(name, open_member(file, name, member).header.shape);
    }
  } else if (kind == Kind::safetensors) {
    for (const auto& [name, tensor] : read_safetensors(file)) add(name, tensor.header.shape);
  } else if (kind == Kind::index) {
    const std::map<std::string, std::string> all = read_shards(file);
    std::map<std::string, std::string> shards;  // each once, with one of its tensors
    for (const auto& [name, shard] : all) shards.emplace(shard, name);
    std::map<std::string, ArrayEntry> sorted;
    for (const auto& [shard, name] : shards) {
      PartFile part = open_shard(file, name);
      for (ArrayEntry& entry : matrices_of(part)) {
        if (all.count(entry.member) != 0) sorted.emplace(entry.member, entry);
      }
    }
    for (auto& [name, entry] : sorted) matrices.push_back(std::move(entry));
  } else {
    add("", open_array(file, "").header.shape);
  }
  return matrices;
}

PatternFile read_array(PartFile& file, const std::string& member) {
  if (kind_of(file) == Kind::npz) {
    const auto members = arrays_of_zip(file);
    if (is_scipy(members) && member.empty()) {
      const auto open = [&](const std::string& name) {
        return open_member(file, name, chosen(members, name, file.path()).second);
      };
      const auto format = unzip(file, members.at("format"));
      return read_scipy(file.path(), read_npy_word(*format, file.path()), open);
    }
  }
  return in_shard(file, member, [&](PartFile& part) {
    return PatternFile{read_mask(open_array(part, member)), 0};
  });
}

ArrayEntry sides_of_array(PartFile& file, const std::string& member) {
  if (kind_of(file) == Kind::npz && member.empty() && is_scipy(arrays_of_zip(file))) {
    const Mask mask = read_array(file, "").mask;
    return {"", mask.rows, mask.cols};
  }
  return in_shard(file, member, [&](PartFile& part) {
    const OpenArray array = open_array(part, member);
    check_matrix(array);
    return ArrayEntry{member, array.header.shape[0], array.header.shape[1]};
  });
}

Magnitudes read_magnitudes(PartFile& file, const std::string& member) {
  return in_shard(file, member, [&](PartFile& part) {
    OpenArray array = open_array(part, member);
    check_matrix(array);
    Magnitudes matrix;
    matrix.rows = static_cast<std::uint32_t>(array.header.shape[0]);
    matrix.cols = static_cast<std::uint32_t>(array.header.shape[1]);
    for_each_number(array, [&](std::uint64_t, std::uint64_t bits) {
      matrix.values.push_back(array.header.type->magnitude(bits));
    });
    if (!array.header.by_columns) return matrix;
    std::vector<double> turned(matrix.values.size());
    for (std::size_t i = 0; i < turned.size(); ++i) {
      turned[(i % matrix.rows) * matrix.cols + i / matrix.rows] = matrix.values[i];
    }
    matrix.values = std::move(turned);
    return matrix;
  });
}

Magnitudes read_magnitudes(const std::string& path) {
  const ArrayName name = split_array_name(path);
  PartFile file(name.file);
  return read_magnitudes(file, name.member);
}

}  // namespace lacuna
