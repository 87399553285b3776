// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/trace/matrix/byte_source.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"

namespace lacuna {

/// Files of arrays: .npy, .npz of NumPy or SciPy, safetensors, and an index of their shards. They
/// are known by their content. "FILE:MEMBER" names an array of a file that holds several. Numbers
/// are read by pieces. Errors are TraceError E001 or E308 with the file.

/// A name in its two parts; no member if none is named.
struct ArrayName {
  std::string file;
  std::string member;
};
ArrayName split_array_name(const std::string& path);

/// An open one of these files, or null: a file of another kind, or none.
std::unique_ptr<PartFile> open_arrays(const std::string& file);

/// The files beside an index that hold its tensors.
std::vector<std::string> shards_of(PartFile& index);

/// True of safetensors and of an index of them, whose members all are tensors of one model.
bool holds_tensors(PartFile& file);

/// A matrix in such a file.
struct ArrayEntry {
  std::string member;  // as it is named; empty: the file holds one alone
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
};

/// Its matrices, without arrays of other dimensions, in the order of their names.
std::vector<ArrayEntry> matrices_of(PartFile& file);

/// What is not zero in a matrix; of one of SciPy too. Without a member the file's only one.
PatternFile read_array(PartFile& file, const std::string& member);

/// Its rows and columns, of which the header says enough.
ArrayEntry sides_of_array(PartFile& file, const std::string& member);

/// The absolute values of a matrix of weights, row-major.
struct Magnitudes {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::vector<double> values;
};
Magnitudes read_magnitudes(const std::string& path);
Magnitudes read_magnitudes(PartFile& file, const std::string& member);

}  // namespace lacuna
