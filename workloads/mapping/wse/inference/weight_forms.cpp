// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/weight_forms.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace lacuna::wse {
namespace {

using Lists = std::vector<std::vector<OutputRun>>;

/// Cycles of what `write` appends, all of it in memory.
template <typename Write>
Cycle cycles_of(const CodeTimes& times, const Write& write) {
  TaskBuilder builder(1, 1);
  SharedRoutines routines(builder);
  CoreCode code(times.costs, times.params, routines);
  code.count(times.datapath);
  write(code);
  code.stamp();
  return code.shares().front().all();
}

/// Cycles of lists, one for all with as many inputs, runs and values: they differ in banks alone.
class ListTimes {
 public:
  template <typename Make>
  Cycle of(const Lists& lists, const Make& make) {
    std::uint32_t inputs = 0;
    std::uint32_t runs = 0;
    std::uint32_t values = 0;
    for (const std::vector<OutputRun>& list : lists) {
      inputs += list.empty() ? 0 : 1;
      runs += static_cast<std::uint32_t>(list.size());
      for (const OutputRun& run : list) values += run.count;
    }
    const auto [known, fresh] = known_.try_emplace(std::make_tuple(inputs, runs, values), 0);
    if (fresh) known->second = make();
    return known->second;
  }

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Cycle> known_;
};

/// A core's product of a tile of which nothing is zero.
SparseGemv product_of(const DecodeShape& shape, Matrix matrix) {
  SparseGemv job;
  job.dense.inputs = shape.inputs(matrix);
  job.dense.outputs = shape.outputs(matrix);
  job.dense.y = 4;  // sums lie so
  job.dense.adds = matrix == Matrix::k || matrix == Matrix::v;
  job.zero.assign(job.dense.inputs, false);
  return job;
}

SparseTile product_of(const PrefillShape& shape, Matrix matrix) {
  const Projection what = projection_of(matrix);
  SparseTile job;
  job.sums = 4;
  job.tokens = shape.t();
  job.pitch = shape.pitch();
  job.inputs = shape.inputs(what) / shape.tile_pieces();
  job.outputs = shape.outputs(what);
  job.zeros.assign(job.inputs, 0);
  return job;
}

void write_product(CoreCode& code, const SparseGemv& job, Element sum) {
  const bool any = job.tests || job.listed;
  any ? write_sparse_gemv(code, job, sum) : write_gemv(code, job.dense, sum);
}

void write_product(CoreCode& code, const SparseTile& job, Element sum) {
  const bool any = job.tests || job.listed;
  any ? write_sparse_tile(code, job, sum) : write_tile(code, job, sum);
}

/// Whether a product without lists is sooner done.
template <typename Shape>
bool dense_is_sooner(const Shape& shape, const CodeTimes& times, const DecodeZeros& zeros,
                     Matrix matrix) {
  auto job = product_of(shape, matrix);
  job.tests = zeros.tests(matrix);
  const auto cycles = [&] {
    return cycles_of(times, [&](CoreCode& code) { write_product(code, job, shape.sum()); });
  };
  const Cycle without = cycles();
  job.listed = true;
  job.whole = zeros.size_of(matrix).whole;
  ListTimes known;
  return shape.any_tile(matrix, [&](const TileFeatures& tile) {
    job.runs = stored_runs(zeros.weights_of(matrix), tile, job.whole);
    return known.of(job.runs, cycles) > without;
  });
}

template <typename Shape>
void choose(const Shape& shape, const CodeTimes& times, DecodeZeros& zeros) {
  const WeightForm form = times.params.weight_form;
  for (std::size_t i = 0; i < kMatrices; ++i) {
    const auto matrix = static_cast<Matrix>(i);
    const Matrix with = shape.stored_with(matrix);
    if (!shape.block().has(matrix)) continue;
    zeros.dense.at(i) = with != matrix ? zeros.dense.at(static_cast<std::size_t>(with))
                        : !zeros.weights_of(matrix).given() ? false
                        : form != WeightForm::sooner        ? form == WeightForm::dense
                                                     : dense_is_sooner(shape, times, zeros, matrix);
  }
}

}  // namespace

void choose_forms(const DecodeShape& shape, const CodeTimes& times, DecodeZeros& zeros) {
  choose(shape, times, zeros);
}

void choose_forms(const PrefillShape& shape, const CodeTimes& times, DecodeZeros& zeros) {
  choose(shape, times, zeros);
}

}  // namespace lacuna::wse
