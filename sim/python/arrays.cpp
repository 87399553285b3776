// SPDX-License-Identifier: Apache-2.0
#include "sim/python/arrays.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/api/lacuna.hpp"
#include "workloads/trace/matrix/given_masks.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"

namespace py = pybind11;

namespace lacuna::python {

namespace {

/// A mask, and where the array lay that it was read from.
struct HeldMask {
  std::shared_ptr<GivenMask> given;
  std::uintptr_t address = 0;
};

HeldMask held(Mask mask, const void* address) {
  HeldMask result;
  result.given = std::make_shared<GivenMask>(std::make_shared<const Mask>(std::move(mask)));
  result.address = reinterpret_cast<std::uintptr_t>(address);  // NOLINT(*-reinterpret-cast)
  return result;
}

std::uint32_t side(py::ssize_t size, const char* what) {
  if (size < 1 || size > std::numeric_limits<std::int32_t>::max()) {
    throw api::RequestError(fmt::format("{}: found {}; allowed: 1 to 2^31 - 1", what, size));
  }
  return static_cast<std::uint32_t>(size);
}

/// What is asked of an element of `Size` bytes: is a bit set, beside the sign of a real number?
template <class Word>
bool is_kept(const char* element, Word significant) {
  Word word{};
  std::memcpy(&word, element, sizeof(Word));
  return (word & significant) != 0;
}

template <class Word>
void read_elements(const py::buffer_info& array, Word significant, Mask& mask) {
  const auto* const first = static_cast<const char*>(array.ptr);
  for (py::ssize_t row = 0; row < array.shape[0]; ++row) {
    const char* const begin = first + row * array.strides[0];
    for (std::uint32_t column = 0; column < mask.cols; ++column) {
      if (is_kept(begin + column * array.strides[1], significant)) mask.columns.push_back(column);
    }
    mask.offsets.push_back(mask.columns.size());
  }
}

/// The elements of a matrix that are not zero. Its numbers are looked at one by one, in the order
/// and with the strides that they have; nothing of it is copied.
HeldMask from_array(const py::buffer& buffer) {
  const py::buffer_info array = buffer.request();
  if (array.ndim != 2) {
    throw api::RequestError(
        fmt::format("found an array of {} dimensions; allowed: a matrix, two", array.ndim));
  }
  Mask mask;
  mask.rows = side(array.shape[0], "rows of the array");
  mask.cols = side(array.shape[1], "columns of the array");
  mask.offsets.push_back(0);
  // a letter, after another that says native order or nothing
  const bool marked =
      array.format.size() == 2 && std::string("@=<").find(array.format[0]) != std::string::npos;
  const char kind = array.format.size() == 1 || marked ? array.format.back() : 'x';
  const bool real = kind == 'e' || kind == 'f' || kind == 'd';
  const bool whole = std::string("?bBhHiIlLqQ").find(kind) != std::string::npos;
  if (!real && !whole) {
    throw api::RequestError(fmt::format(
        "found elements of format '{}'; allowed: booleans, whole and real numbers up to 64 bits",
        array.format));
  }
  const py::gil_scoped_release released;
  switch (array.itemsize) {
    case 1:
      read_elements<std::uint8_t>(array, 0xff, mask);
      break;
    case 2:
      read_elements<std::uint16_t>(array, real ? 0x7fff : 0xffff, mask);
      break;
    case 4:
      read_elements<std::uint32_t>(array, real ? 0x7fffffffU : ~0U, mask);
      break;
    default:
      read_elements<std::uint64_t>(array, real ? ~0ULL >> 1U : ~0ULL, mask);
  }
  return held(std::move(mask), array.ptr);
}

template <class Offset, class Column>
Mask from_rows(std::uint32_t rows, std::uint32_t cols, const py::buffer_info& offsets,
               const py::buffer_info& columns) {
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  const auto* const from = static_cast<const Offset*>(offsets.ptr);
  const auto* const at = static_cast<const Column*>(columns.ptr);
  mask.offsets.reserve(rows + std::size_t{1});
  for (std::uint32_t row = 0; row <= rows; ++row) {
    const bool right = from[row] >= (row == 0 ? 0 : from[row - 1]) && from[row] <= columns.size;
    if (!right || (row == 0 && from[0] != 0)) {
      throw api::RequestError(
          fmt::format("indptr[{}] = {}: rows begin where those before them end", row, from[row]));
    }
    mask.offsets.push_back(static_cast<std::uint64_t>(from[row]));
  }
  mask.columns.reserve(mask.offsets.back());
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (Offset i = from[row]; i < from[row + 1]; ++i) {
      const bool ascends = i == from[row] || at[i] > at[i - 1];
      if (at[i] < 0 || at[i] >= static_cast<Column>(cols) || !ascends) {
        throw api::RequestError(fmt::format(
            "indices[{}] = {} of row {}: allowed: 0 to {}, each once and ascending (sort_indices "
            "and sum_duplicates of SciPy make them so)",
            i, at[i], row, cols - 1));
      }
      mask.columns.push_back(static_cast<std::uint32_t>(at[i]));
    }
  }
  return mask;
}

/// Compressed sparse rows, as SciPy has them; in blocks if a side is more than 1.
HeldMask from_csr(py::ssize_t rows, py::ssize_t cols, const py::buffer& indptr,
                  const py::buffer& indices, std::uint32_t block_rows, std::uint32_t block_cols) {
  const py::buffer_info offsets = indptr.request();
  const py::buffer_info columns = indices.request();
  const std::uint32_t m = side(rows, "rows") / block_rows;
  const std::uint32_t k = side(cols, "columns") / block_cols;
  if (offsets.ndim != 1 || columns.ndim != 1 || offsets.size != py::ssize_t{m} + 1 ||
      offsets.itemsize != columns.itemsize || (offsets.itemsize != 4 && offsets.itemsize != 8)) {
    throw api::RequestError("found indices that are no compressed rows of 32 or 64 bits");
  }
  const py::gil_scoped_release released;
  Mask mask = offsets.itemsize == 4 ? from_rows<std::int32_t, std::int32_t>(m, k, offsets, columns)
                                    : from_rows<std::int64_t, std::int64_t>(m, k, offsets, columns);
  if (block_rows != 1 || block_cols != 1) {
    mask.rows *= block_rows;
    mask.cols *= block_cols;
    mask.block_rows = block_rows;
    mask.block_cols = block_cols;
    mask = mask.elements();
  }
  return held(std::move(mask), columns.ptr);
}

HeldMask from_file(const std::string& path) {
  const py::gil_scoped_release released;
  try {
    return held(read_pattern_file(path).mask, nullptr);
  } catch (const std::exception& error) {
    throw api::RequestError(error.what());
  }
}

/// The offsets or the columns of a mask where they lie, as SciPy's types: no value is above 2^31.
template <class Seen, class Kept>
py::array view(const HeldMask& mask, const std::vector<Kept>& values) {
  static_assert(sizeof(Seen) == sizeof(Kept));
  using Shared = std::shared_ptr<GivenMask>;
  const py::capsule keep(new Shared(mask.given),
                         [](void* shared) { delete static_cast<Shared*>(shared); });
  // NOLINTNEXTLINE(*-reinterpret-cast): signed and unsigned of one size may stand for each other
  const auto* const data = reinterpret_cast<const Seen*>(values.data());
  return read_only(py::array_t<Seen>(static_cast<py::ssize_t>(values.size()), data, keep));
}

}  // namespace

void add_mask(py::module_& module) {
  py::class_<HeldMask>(module, "Mask")
      .def_static("from_array", &from_array)
      .def_static("from_csr", &from_csr)
      .def_static("from_file", &from_file)
      .def_property_readonly("name", [](const HeldMask& m) { return m.given->name(); })
      .def_property_readonly("address", [](const HeldMask& m) { return m.address; })
      .def_property_readonly("nnz", [](const HeldMask& m) { return m.given->mask().nnz(); })
      .def_property_readonly("density", [](const HeldMask& m) { return m.given->mask().density(); })
      .def_property_readonly(
          "shape",
          [](const HeldMask& m) { return std::pair(m.given->mask().rows, m.given->mask().cols); })
      .def_property_readonly(
          "indptr",
          [](const HeldMask& m) { return view<std::int64_t>(m, m.given->mask().offsets); })
      .def_property_readonly("indices", [](const HeldMask& m) {
        return view<std::int32_t>(m, m.given->mask().columns);
      });
}

}  // namespace lacuna::python
