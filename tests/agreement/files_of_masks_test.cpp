// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"

namespace lacuna::test {
namespace {

/// A mask with each element there by chance, or with blocks of 16 x 16 there by chance.
Mask drawn_mask(Random& random, const Request& request) {
  const std::uint64_t of = 1 + random.bounded(8);
  const bool blocks = random.bounded(3) == 0;
  Mask mask;
  mask.rows = request.m;
  mask.cols = request.k;
  mask.offsets.push_back(0);
  std::vector<bool> row(request.k / 16);
  for (std::uint32_t r = 0; r < request.m; ++r) {
    for (std::size_t b = 0; r % 16 == 0 && b < row.size(); ++b) row[b] = random.bounded(of) == 0;
    for (std::uint32_t c = 0; c < request.k; ++c) {
      if (blocks ? row[c / 16] : random.bounded(of) == 0) mask.columns.push_back(c);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

/// One byte for each element, row by row.
std::string bytes_of(const Mask& mask) {
  std::string bytes(std::size_t{mask.rows} * mask.cols, '\0');
  for (std::uint32_t r = 0; r < mask.rows; ++r) {
    for (std::uint64_t i = mask.offsets[r]; i < mask.offsets[r + 1]; ++i) {
      bytes[std::size_t{r} * mask.cols + mask.columns[i]] = 1;
    }
  }
  return bytes;
}

std::string npy_of(const Mask& mask) {
  std::string header = fmt::format(
      "{{'descr': '|b1', 'fortran_order': False, 'shape': ({}, {}), }}", mask.rows, mask.cols);
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n' + bytes_of(mask);
}

std::string safetensors_of(const Mask& mask) {
  const std::string header =
      fmt::format(R"({{"w": {{"dtype": "I8", "shape": [{}, {}], "data_offsets": [0, {}]}}}})",
                  mask.rows, mask.cols, std::size_t{mask.rows} * mask.cols);
  return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header +
         bytes_of(mask);
}

std::string mtx_of(const Mask& mask) {
  const std::string bytes = bytes_of(mask);
  std::string text =
      fmt::format("%%MatrixMarket matrix array integer general\n{} {}\n", mask.rows, mask.cols);
  for (std::uint32_t c = 0; c < mask.cols; ++c) {
    for (std::uint32_t r = 0; r < mask.rows; ++r) {
      text += bytes[std::size_t{r} * mask.cols + c] != 0 ? "3\n" : "0\n";
    }
  }
  return text;
}

Numbers total(const Request& request, std::vector<std::string> words) {
  const std::vector<std::string> options = request.options();
  words.insert(words.begin(), {"run", "--machine", request.machine});
  words.insert(words.end(), options.begin(), options.end());
  const auto rows = numbers_of(words);
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? Numbers{} : rows.front();
}

// Whatever file holds a mask, and wherever it is named, it costs the same.
TEST(FilesOfMasks, AMaskCostsTheSameInEveryFile) {
  for_each_draw([](Random& random) {
    Request request = small_product(random);
    request.pattern.clear();
    const Mask mask = drawn_mask(random, request);
    if (mask.columns.empty()) return;
    const TempFile smtx(format_smtx(mask), ".smtx");
    const auto matrix = [&](const std::string& path) {
      return total(request,
                   {"--matrix", path, "--n", std::to_string(request.n), "--dtype", request.dtype});
    };
    const Numbers first = matrix(smtx.path());
    const TempFile npy(npy_of(mask), ".npy");
    EXPECT_EQ(matrix(npy.path()), first);
    const TempFile tensors(safetensors_of(mask), ".safetensors");
    EXPECT_EQ(matrix(tensors.path() + ":w"), first);
    const TempFile mtx(mtx_of(mask), ".mtx");
    EXPECT_EQ(matrix(mtx.path()), first);
    Request product = request;
    product.pattern = "file:" + npy.path();
    EXPECT_EQ(total(product, request.product()), first);
    const TempFile trace(fmt::format(
        "id,op,m,k,n,dtype,pattern,pattern_file\nmatrix,gemm,{},{},{},{},file,{}:w\n", request.m,
        request.k, request.n, request.dtype, tensors.path().substr(tensors.path().rfind('/') + 1)));
    EXPECT_EQ(total(request, {"--trace", trace.path()}), first);
  });
}

}  // namespace
}  // namespace lacuna::test
