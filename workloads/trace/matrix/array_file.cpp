// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/json_safetensors.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

namespace {

/// Lists at most a few of many.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : ", ") + quotable(names[i]);
  }
  return text + (names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "");
}

[[noreturn]] void refuse_member(const std::string& path, const std::string& member,
                                const ArrayMap& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, open] : arrays) names.push_back(name);
  refuse_array(
      path,
      names.empty()    ? "no array"
      : member.empty() ? "several arrays"
                       : fmt::format("no array '{}'", quotable(member)),
      fmt::format("one of {}{}", some_of(names), member.empty() ? "" : hint_of(member, names)));
}

OpenArray open_npy(ByteSource bytes, const std::string& path) {
  const ArrayHeader header = read_npy_header(bytes, path);
  return {path, header, std::move(bytes)};
}

/// What of an array is meant by a name.
struct Selection {
  std::string array;
  bool transposed = false;
  std::uint64_t first = 0;
  std::uint64_t end = 0;     // 0: all rows
  std::uint64_t period = 0;  // 0: that of all rows
};

/// "NAME.T[A:B/P]", or a name alone.
Selection selection_of(const std::string& member) {
  Selection selection{member};
  const std::size_t open = member.rfind('[');
  const std::size_t colon = member.find(':', open);
  if (member.back() == ']' && open != std::string::npos && colon != std::string::npos) {
    const std::size_t slash = std::min(member.find('/', colon), member.size() - 1);
    const auto number = [&](std::size_t at, std::size_t stop, std::uint64_t& value) {
      const auto read = parse_integer(member.substr(at, stop - at), 0, kMostSide);
      value = read.value_or(0);
      return read.has_value();
    };
    const bool right =
        number(open + 1, colon, selection.first) && number(colon + 1, slash, selection.end) &&
        (slash + 1 == member.size() || number(slash + 1, member.size() - 1, selection.period));
    if (!right) return {member};
    selection.array.resize(open);
  }
  selection.transposed = ends_with(selection.array, ".T");
  if (selection.transposed) selection.array.resize(selection.array.size() - 2);
  return selection;
}

OpenMatrix select(OpenArray array, const Selection& part) {
  const std::vector<std::uint64_t>& shape = array.header.shape;
  if (shape.size() != 2 || !is_side(shape[0]) || !is_side(shape[1])) {
    refuse_array(array.path, fmt::format("shape ({})", fmt::join(shape, ", ")),
                 "a matrix, two sides from 1 to 2^31 - 1");
  }
  const std::uint64_t rows = shape[part.transposed ? 1 : 0];
  OpenMatrix matrix;
  matrix.cols = shape[part.transposed ? 0 : 1];
  matrix.by_columns = array.header.by_columns != part.transposed;
  matrix.period = part.period == 0 ? rows : part.period;
  matrix.first = part.first;
  matrix.end = part.end == 0 ? matrix.period : part.end;
  if (matrix.first >= matrix.end || matrix.end > matrix.period || rows % matrix.period != 0) {
    refuse_array(array.path,
                 fmt::format("rows [{}:{}] of every {}", matrix.first, matrix.end, matrix.period),
                 fmt::format("rows of the {}, or of a part that divides them", rows));
  }
  matrix.rows = rows / matrix.period * (matrix.end - matrix.first);
  matrix.array = std::move(array);
  return matrix;
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

std::unique_ptr<ArrayFile> ArrayFile::open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return nullptr;
  auto file = std::make_unique<ArrayFile>(path);
  return file->open_kind() ? std::move(file) : nullptr;
}

std::unique_ptr<ArrayFile> ArrayFile::required(const std::string& path) {
  if (auto file = open(path)) return file;
  const PartFile there(path);
  refuse_array(path, "a file that holds no array", ".npy, .npz, safetensors");
}

/// False if it is of no kind.
bool ArrayFile::open_kind() {
  files_.push_back(std::make_unique<PartFile>(path_));
  PartFile& bytes = *files_.back();
  constexpr std::uint64_t kLooked = 6;
  const std::string head = bytes.part(0, kLooked);
  if (starts_with(head, "\x93NUMPY")) {
    arrays_[""] = [&bytes] { return open_npy(bytes.source(0, bytes.size()), bytes.path()); };
    return true;
  }
  if (starts_with(head, "PK\x03\x04") || starts_with(head, "PK\x05\x06")) {
    open_zip();
    return true;
  }
  tensors_ = true;
  if (is_safetensors(bytes)) {
    arrays_ = open_tensors(path_);
  } else if (starts_with(head, "{") && ends_with(path_, ".index.json")) {
    open_index(bytes);
  } else {
    return false;
  }
  join_packed(arrays_, path_);
  return true;
}

/// Members that are arrays have their names without ".npy".
void ArrayFile::open_zip() {
  const std::string ending = ".npy";
  zip_ = std::make_unique<ZipArchive>(path_);
  const std::vector<std::string> members = zip_->names();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string& member = members[i];
    if (member == "data.pkl" || ends_with(member, "/data.pkl")) {
      refuse_array(path_, "a checkpoint of pickled objects",
                   "safetensors; save_file of safetensors.torch writes it");
    }
    const std::string name =
        ends_with(member, ending) ? member.substr(0, member.size() - ending.size()) : member;
    arrays_[name] = [this, i, name] {
      return open_npy(zip_->open(i), path_ + ":" + quotable(name));
    };
  }
  const auto format = place_in(members, "format.npy");
  if (!format || arrays_.count("shape") == 0 || arrays_.count("data") == 0) return;
  ByteSource text = zip_->open(*format);
  scipy_ = read_npy_word(text, path_);
}

ArrayMap ArrayFile::open_tensors(const std::string& path) {
  files_.push_back(std::make_unique<PartFile>(path));
  PartFile& file = *files_.back();
  ArrayMap arrays;
  for (const auto& [name, tensor] : read_safetensors(file)) {
    arrays[name] = [&file, tensor = tensor, where = path + ":" + quotable(name)] {
      const std::size_t size = tensor.header.type == nullptr ? 0 : tensor.header.type->size;
      return OpenArray{where, tensor.header, file.source(tensor.at, tensor.header.count() * size)};
    };
  }
  return arrays;
}

void ArrayFile::open_index(PartFile& index) {
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  for (const auto& [name, shard] : read_shards(index)) {
    const std::string path = (folder / shard).string();
    shards_[path];
    arrays_[name] = [this, path, name = name] { return open_in_shard(path, name); };
  }
}

OpenArray ArrayFile::open_in_shard(const std::string& path, const std::string& name) {
  ArrayMap& tensors = shards_[path];
  if (tensors.empty()) tensors = open_tensors(path);
  if (const auto* const opener = value_in(tensors, name)) return (*opener)();
  refuse_member(path, name, tensors);
}

std::vector<std::string> ArrayFile::shards() const {
  std::vector<std::string> paths;
  for (const auto& [path, tensors] : shards_) paths.push_back(path);
  return paths;
}

std::vector<ArrayEntry> ArrayFile::matrices() const {
  if (!scipy_.empty()) return {sides("")};
  std::vector<ArrayEntry> matrices;
  for (const auto& [name, open] : arrays_) {
    const std::vector<std::uint64_t> shape = open().header.shape;
    if (shape.size() == 2) matrices.push_back({name, shape[0], shape[1]});
  }
  return matrices;
}

/// Refuses numbers that are several weights each, or whose zeros are other numbers.
void ArrayFile::check_is_plain(const std::string& name) const {
  const std::string last = name.substr(name.rfind('.') + 1);
  bool plain = !tensors_ || (last != "qweight" && last != "weight_packed");
  for (const char* beside : {".absmax", ".quant_map", "_zero_point"}) {
    plain = plain && arrays_.count(name + beside) == 0;
  }
  if (plain) return;
  refuse_array(path_ + ":" + quotable(name), "weights that are quantised and packed",
               "a number for each weight, which is zero where it is left out");
}

OpenMatrix ArrayFile::find(const std::string& member) const {
  Selection part{member};
  auto found = member.empty() && arrays_.size() == 1 ? arrays_.begin() : arrays_.find(member);
  if (found == arrays_.end() && !member.empty()) {
    part = selection_of(member);
    found = arrays_.find(part.array);
  }
  if (found == arrays_.end()) refuse_member(path_, member, arrays_);
  check_is_plain(found->first);
  return select(found->second(), part);
}

ArrayEntry ArrayFile::sides(const std::string& member) const {
  if (is_scipy(member)) {
    const auto [rows, cols] = scipy_sides(arrays_, path_);
    return {"", rows, cols};
  }
  const OpenMatrix matrix = find(member);
  return {member, matrix.rows, matrix.cols};
}

Mask ArrayFile::mask(const std::string& member) const {
  if (is_scipy(member)) return read_scipy(arrays_, scipy_, path_);
  OpenMatrix matrix = find(member);
  const bool turned = matrix.by_columns;
  Mask mask;
  mask.rows = static_cast<std::uint32_t>(turned ? matrix.cols : matrix.rows);
  mask.cols = static_cast<std::uint32_t>(turned ? matrix.rows : matrix.cols);
  // only as many as the file has, whatever it says
  const ElementType* const type = matrix.array.header.type;
  matrix.for_each([&](std::uint64_t row, std::uint64_t column, std::uint64_t bits) {
    while (mask.offsets.size() <= row) mask.offsets.push_back(mask.columns.size());
    if (!type->is_zero(bits)) mask.columns.push_back(static_cast<std::uint32_t>(column));
  });
  mask.offsets.push_back(mask.columns.size());
  return turned ? mask.transposed() : mask;
}

Magnitudes ArrayFile::magnitudes(const std::string& member) const {
  OpenMatrix matrix = find(member);
  Magnitudes weights;
  weights.rows = static_cast<std::uint32_t>(matrix.rows);
  weights.cols = static_cast<std::uint32_t>(matrix.cols);
  const ElementType* const type = matrix.array.header.type;
  matrix.for_each([&](std::uint64_t, std::uint64_t, std::uint64_t bits) {
    weights.values.push_back(type->magnitude(bits));
  });
  if (!matrix.by_columns) return weights;
  std::vector<double> turned(weights.values.size());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    turned[i % weights.rows * weights.cols + i / weights.rows] = weights.values[i];
  }
  weights.values = std::move(turned);
  return weights;
}

Magnitudes read_magnitudes(const std::string& path) {
  const ArrayName name = split_array_name(path);
  return ArrayFile::required(name.file)->magnitudes(name.member);
}

}  // namespace lacuna
