// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/trace/matrix/array_numbers.hpp"
#include "workloads/trace/matrix/npy_zip.hpp"

namespace lacuna {

/// "FILE:MEMBER", where FILE holds several arrays, in its two parts; no member if none is named.
struct ArrayName {
  std::string file;
  std::string member;
};
ArrayName split_array_name(const std::string& path);

/// A matrix in such a file.
struct ArrayEntry {
  std::string member;  // as it is named; empty: the file holds one alone
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
};

/// The absolute values of a matrix of weights, row-major.
struct Magnitudes {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::vector<double> values;
};

/// An open file of arrays: .npy, .npz of NumPy or SciPy, safetensors, or an index of their shards.
/// It is known by its content, and its headers are read once. A matrix that compression tools
/// store as "X.compressed", "X.bitmask" and "X.shape" is the member "X.weight". Behind the name of
/// a member may stand ".T", its transpose, and then "[A:B]", its rows from A to B without B, or
/// "[A:B/P]", these of every P rows. Numbers are read by pieces. Errors are TraceError E001 or E308
/// with the file.
class ArrayFile {
 public:
  /// Null if it is a file of another kind, or none.
  static std::unique_ptr<ArrayFile> open(const std::string& path);

  /// The same; TraceError with what it is instead.
  static std::unique_ptr<ArrayFile> required(const std::string& path);

  explicit ArrayFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  /// True of safetensors and of an index of them, whose members all are tensors of one model.
  bool holds_tensors() const { return tensors_; }

  /// The files beside an index that hold its tensors.
  std::vector<std::string> shards() const;

  /// Its matrices, without arrays of other dimensions, in the order of their names.
  std::vector<ArrayEntry> matrices() const;

  /// Rows and columns of a matrix. Without a member the file's only one.
  ArrayEntry sides(const std::string& member) const;

  /// What is not zero in it.
  Mask mask(const std::string& member) const;
  Magnitudes magnitudes(const std::string& member) const;

 private:
  bool open_kind();
  void open_zip();
  ArrayMap open_tensors(const std::string& path);
  void open_index(PartFile& index);
  OpenArray open_in_shard(const std::string& path, const std::string& name);
  void check_is_plain(const std::string& name) const;
  OpenMatrix find(const std::string& member) const;
  bool is_scipy(const std::string& member) const { return member.empty() && !scipy_.empty(); }

  std::string path_;
  std::vector<std::unique_ptr<PartFile>> files_;  // itself, or shards
  std::unique_ptr<ZipArchive> zip_;
  std::map<std::string, ArrayMap> shards_;  // by path; empty until one of its tensors is opened
  bool tensors_ = false;
  std::string scipy_;  // format of a sparse matrix that all its arrays are of; empty: none
  ArrayMap arrays_;
};

/// The same of "FILE:MEMBER".
Magnitudes read_magnitudes(const std::string& path);

}  // namespace lacuna
