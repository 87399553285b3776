// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/base/contains.hpp"
#include "workloads/trace/matrix/array_numbers.hpp"
#include "workloads/trace/matrix/mask_at.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

OpenArray open(const ArrayMap& arrays, const std::string& name, const std::string& path) {
  if (const auto* const opener = value_in(arrays, name)) return (*opener)();
  refuse_array(path, "a matrix of SciPy without " + name, "what save_npz of SciPy writes");
}

/// The major index of each stored entry, from where each row of them begins.
std::vector<std::uint64_t> expanded(const std::vector<std::uint64_t>& begins, std::uint64_t rows,
                                    std::uint64_t entries, const std::string& path) {
  const bool right = begins.size() == rows + 1 && begins.front() == 0 && begins.back() == entries &&
                     std::is_sorted(begins.begin(), begins.end());
  if (!right) {
    refuse_array(path, "indptr that does not fit shape and indices",
                 "where each row begins, and the number of all");
  }
  std::vector<std::uint64_t> majors;
  majors.reserve(entries);
  for (std::uint64_t row = 0; row < rows; ++row) {
    majors.insert(majors.end(), begins[row + 1] - begins[row], row);
  }
  return majors;
}

/// Stored entries, or blocks of them.
struct Stored {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::uint64_t block_rows = 1;
  std::uint64_t block_cols = 1;
  std::vector<std::uint64_t> row;  // of each entry, in blocks
  std::vector<std::uint64_t> col;
};

struct Place {
  std::uint32_t row;
  std::uint32_t col;
};

std::vector<Place> kept_places(const Stored& stored, OpenArray data) {
  const std::uint64_t block = stored.block_rows * stored.block_cols;
  if (data.header.count() != block * stored.row.size() || data.header.by_columns) {
    refuse_array(
        data.path, fmt::format("{} values", data.header.count()),
        fmt::format("{}, one for each index, in the order of C", block * stored.row.size()));
  }
  std::vector<Place> places;
  for_each_number(data, [&](std::uint64_t i, std::uint64_t bits) {
    if (data.header.type->is_zero(bits)) return;
    const std::uint64_t inner = i % block;
    const std::uint64_t row = stored.row[i / block] * stored.block_rows + inner / stored.block_cols;
    const std::uint64_t col = stored.col[i / block] * stored.block_cols + inner % stored.block_cols;
    if (row >= stored.rows || col >= stored.cols) {
      refuse_array(data.path, fmt::format("an index of row {}, column {}", row, col),
                   fmt::format("a place in {} x {}", stored.rows, stored.cols));
    }
    places.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col)});
  });
  return places;
}

Mask mask_of(const Stored& stored, std::vector<Place> places, const std::string& path) {
  const auto twice = sort_places(places);
  if (twice != places.end()) {
    refuse_array(path, fmt::format("row {}, column {} twice", twice->row, twice->col),
                 "each place once, as sum_duplicates of SciPy makes it");
  }
  return mask_at(static_cast<std::uint32_t>(stored.rows), static_cast<std::uint32_t>(stored.cols),
                 places);
}

void set_blocks(Stored& stored, const ArrayHeader& data, const std::string& path) {
  const bool right = data.shape.size() == 3 && data.shape[1] != 0 && data.shape[2] != 0 &&
                     stored.rows % data.shape[1] == 0 && stored.cols % data.shape[2] == 0;
  if (!right) refuse_array(path, "blocks that do not fit the shape", "data of blocks, R and C");
  stored.block_rows = data.shape[1];
  stored.block_cols = data.shape[2];
}

}  // namespace

std::vector<std::uint64_t> read_integers(OpenArray array) {
  const ElementType* const type = array.header.type;
  const bool list = array.header.shape.size() == 1 ||
                    (array.header.shape.size() == 2 && array.header.shape[1] == 1);
  if (type == nullptr || type->fraction != 0 || !list) {
    refuse_array(array.path, "an array that is no list of whole numbers", "a list of them");
  }
  std::vector<std::uint64_t> numbers;
  for_each_number(array, [&](std::uint64_t, std::uint64_t bits) {
    if ((bits & type->sign) != 0) refuse_array(array.path, "a negative number", "indices or sides");
    numbers.push_back(bits);
  });
  return numbers;
}

std::pair<std::uint64_t, std::uint64_t> scipy_sides(const ArrayMap& arrays,
                                                    const std::string& path) {
  const std::vector<std::uint64_t> shape = read_integers(open(arrays, "shape", path));
  constexpr std::uint64_t kMostRows = std::uint64_t{1} << 28U;  // whose beginnings are held
  if (shape.size() == 2 && is_side(shape[0]) && is_side(shape[1]) && shape[0] <= kMostRows) {
    return {shape[0], shape[1]};
  }
  refuse_array(path, fmt::format("shape ({})", fmt::join(shape, ", ")),
               "a matrix, two sides, at most 2^28 rows");
}

Mask read_scipy(const ArrayMap& arrays, const std::string& format, const std::string& path) {
  const auto integers = [&](const char* name) { return read_integers(open(arrays, name, path)); };
  Stored stored;
  std::tie(stored.rows, stored.cols) = scipy_sides(arrays, path);
  OpenArray data = open(arrays, "data", path);
  if (format == "coo") {
    stored.row = integers("row");
    stored.col = integers("col");
    if (stored.row.size() != stored.col.size()) {
      refuse_array(path, "row and col of unlike lengths", "one of each for an entry");
    }
  } else if (format == "csr" || format == "csc" || format == "bsr") {
    if (format == "bsr") set_blocks(stored, data.header, path);
    const bool by_columns = format == "csc";
    const std::uint64_t majors = by_columns ? stored.cols : stored.rows / stored.block_rows;
    std::vector<std::uint64_t> minor = integers("indices");
    std::vector<std::uint64_t> major = expanded(integers("indptr"), majors, minor.size(), path);
    stored.row = by_columns ? std::move(minor) : std::move(major);
    stored.col = by_columns ? std::move(major) : std::move(minor);
  } else {
    refuse_array(path, fmt::format("a matrix of SciPy in format {}", format),
                 "csr, csc, coo, bsr; its tocsr() makes one");
  }
  return mask_of(stored, kept_places(stored, std::move(data)), path);
}

}  // namespace lacuna
