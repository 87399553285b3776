// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/device_format.hpp"

namespace lacuna::ipu {
namespace {

std::uint64_t index_bytes(std::uint64_t places) { return places <= 65536 ? 2 : 4; }

}  // namespace

FormatBytes user_bytes(UserFormat format, const Mask& mask, DType type) {
  FormatBytes bytes;
  switch (format) {
    case UserFormat::csr:
      bytes.values = mask.nnz() * bytes_of(type);
      bytes.indices = mask.nnz() * index_bytes(mask.cols) + (std::uint64_t{mask.rows} + 1) * 4;
      break;
    case UserFormat::coo:
      bytes.values = mask.nnz() * bytes_of(type);
      bytes.indices = mask.nnz() * 2 * index_bytes(mask.cols);
      break;
    case UserFormat::bsr:
      bytes.values =
          mask.blocks() * std::uint64_t{mask.block_rows} * mask.block_cols * bytes_of(type);
      bytes.indices =
          mask.blocks() * index_bytes(mask.grid_cols()) + (std::uint64_t{mask.grid_rows()} + 1) * 4;
      break;
  }
  return bytes;
}

}  // namespace lacuna::ipu
