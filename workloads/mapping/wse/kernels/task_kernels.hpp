// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "sim/base/parameter.hpp"
#include "workloads/mapping/wse/code_costs.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::wse {

/// How the sparse matrix of a software SpMM is stored; dense has no indices.
enum class SpmmFormat { csc, csr, coo, ellpack, dense };
enum class SpmmPhases { local, all };
enum class GemvReduce { mesh, chain };
enum class GemvWalk { saved, written };
/// Algorithms of a dense product; plan_dense_mesh() says what each does.
enum class DenseMesh { streamed, mesh, summa, cannon };
/// Points of a stencil: a plane of 5, or a star of 7 or 25 in three dimensions.
enum class StencilShape { seven_points, five_points, twenty_five_points };

/// Software-driven kernels: what they do is code and indices in memory.
struct KernelParams : ParameterSet {
  Param<SpmmFormat> spmm_format = param(this, "spmm_format", SpmmFormat::csc,
                                        Choices<SpmmFormat>{{"csc", SpmmFormat::csc},
                                                            {"csr", SpmmFormat::csr},
                                                            {"coo", SpmmFormat::coo},
                                                            {"ellpack", SpmmFormat::ellpack},
                                                            {"dense", SpmmFormat::dense}},
                                        "How a core holds its non-zeros (mode dynamic), or all "
                                        "elements: a loop over columns of A and B.");
  Param<SpmmPhases> spmm_phases =
      param(this, "spmm_phases", SpmmPhases::all,
            Choices<SpmmPhases>{{"local", SpmmPhases::local}, {"all", SpmmPhases::all}},
            "The local product alone, or with the way of B down and of C east.");
  Param<DenseMesh> gemm = param(this, "gemm", DenseMesh::streamed,
                                Choices<DenseMesh>{{"streamed", DenseMesh::streamed},
                                                   {"mesh", DenseMesh::mesh},
                                                   {"summa", DenseMesh::summa},
                                                   {"cannon", DenseMesh::cannon}},
                                "Dense products: weights streamed, or tiles of both operands that "
                                "go round rings of two hops or of lines and one long way back "
                                "(cannon), or are broadcast along rows and columns (summa).");
  Param<unsigned> code_kib = param(this, "code_kib", 4U, range(0U, 65536U), "KiB",
                                   "Memory that the code of such a kernel takes.");
  Param<unsigned> protocol_cycles =
      param(this, "protocol_cycles", 0U, range(0U, 100000U), "cycles",
            "Scalar work of a measurement in each core, before the local product.");
  Param<StencilShape> stencil =
      param(this, "stencil", StencilShape::seven_points,
            Choices<StencilShape>{{"seven_points", StencilShape::seven_points},
                                  {"five_points", StencilShape::five_points},
                                  {"twenty_five_points", StencilShape::twenty_five_points}},
            "A column of m points in each core (7 or 25 points), or a block of m x n points.");
  Param<unsigned> iterations =
      param(this, "iterations", 1U, range(1U, 10000U), "", "Iterations of a stencil.");
  Param<GemvReduce> gemv_reduce =
      param(this, "gemv_reduce", GemvReduce::mesh,
            Choices<GemvReduce>{{"mesh", GemvReduce::mesh}, {"chain", GemvReduce::chain}},
            "Sums of a matrix-vector product: two levels around the middle, or a chain.");
  Param<GemvWalk> gemv_walk =
      param(this, "gemv_walk", GemvWalk::saved,
            Choices<GemvWalk>{{"saved", GemvWalk::saved}, {"written", GemvWalk::written}},
            "From one column of W to the next: the address register keeps where the last "
            "instruction ended, or is written (scalar.dsr_write).");
  Param<unsigned> gemv_repeats = param(
      this, "gemv_repeats", 1U, range(1U, 1000U), "",
      "Matrix-vector products of a run, one after the other in each core, without a barrier.");
};

/// What is known of the work of a software-driven kernel.
struct KernelWork {
  std::uint64_t copies = 1;   // rectangles beside each other that do the same, without traffic
  std::uint64_t edge = 0;     // products outside the matrices, of all copies: padding
  std::uint64_t zeros = 0;    // products with a zero that the format stores, likewise
  std::uint64_t repeats = 1;  // products that the program does one after the other
  bool wide = false;          // of single precision
};

/// A kernel on a rectangle of cores.
struct TaskKernel : KernelWork {
  TaskProgram program;
  std::uint32_t bytes = 0;  // of memory, the fullest core
  std::vector<std::pair<std::string, std::string>> notes;

  /// With values: elements of the result, in all cores that have them after a run.
  std::function<LayerComparison(const WaferMemory&)> compare;
};

/// One AXPY for each non-zero: C[m x n] += A[m x k] B[k x n], FP32. A lies in tiles over the
/// rectangle, k along x and m along y. `dense`: one for each pair of a column of A's tile and one
/// of B, as long as A's tile is high.
struct SpmmJob {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
  const Mask* mask = nullptr;  // null: dense
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
  Alignment align = Alignment::good;
  std::uint32_t memory_bytes = 0;
  bool values = false;
  std::uint64_t seed = 1;
};
TaskKernel plan_spmm(const SpmmJob& job, const KernelParams& kernel, const CodeCosts& costs);

/// A small integer, -1, 0 or 1, so that sums in FP16 stay exact.
float small_value(std::uint64_t seed, std::uint64_t row, std::uint64_t column);

/// y = W x with W[m x k] in tiles of FP16 over P x P cores, m along x and k along y; sums go along
/// y to a core and back to all: with `mesh` in groups, each towards its middle, then from group to
/// group towards the middle one. Columns repeat each other, so one is planned.
/// With `saved` the address register of W goes on where the last instruction ended (CSL language
/// reference: save_address), so the columns of W are as long as they lie apart, whole 8 bytes.
struct GemvJob {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t cores = 1;  // P
  GemvReduce reduce = GemvReduce::mesh;
  std::uint32_t repeats = 1;  // products, one after the other in each core, without a barrier
  Alignment align = Alignment::good;
  unsigned ramp = 2;
  bool values = false;
  std::uint64_t seed = 1;
  GemvWalk walk = GemvWalk::saved;
};
TaskKernel plan_gemv(const GemvJob& job, const CodeCosts& costs);

/// Memory that a core needs for it. A plan is made for what fits a core only.
std::uint64_t gemv_bytes(const GemvJob& job);

/// Iterations of a stencil over a rectangle of cores, each point a weighted sum of itself and its
/// neighbours. Seven points: a column of `width` points of the third dimension in each core, all of
/// them sent to the four neighbours. Twenty-five points: the same, to the four nearest cores on
/// each side. Five points: a block of `width` x `height` points in each core, whose edges go to the
/// neighbours.
struct StencilJob {
  StencilShape shape = StencilShape::seven_points;
  Element element = Element::fp32;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
  std::uint32_t iterations = 1;
  bool values = false;
  std::uint64_t seed = 1;
};
/// This is such a kernel with its program, the values that it begins with and the comparison.
TaskKernel stencil_of(const StencilJob& job, TaskProgram program);

/// Memory that a core needs for it: two blocks or columns with their frames. A plan is made for
/// what fits a core only.
std::uint64_t stencil_bytes(const StencilJob& job);

}  // namespace lacuna::wse
