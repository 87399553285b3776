// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/functions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lacuna::wse {
namespace {

/// Below, e^x is taken for e to this.
constexpr float kLeastExponent = -20;

}  // namespace

void LeftOut::take(const DecodeZeros& zeros, Matrix matrix, const TileFeatures& tile) {
  tests = zeros.tests(matrix);
  listed = zeros.sparse(matrix);
  whole = !listed || zeros.size_of(matrix).whole;
  if (listed) runs = stored_runs(zeros.weights_of(matrix), tile, whole);
}

void write_gemv(CoreCode& code, const LocalGemv& job, Element sum) {
  for (std::uint32_t j = 0; j < job.inputs; ++j) {
    code.accumulate(j == 0 && !job.adds, products(sum), in_memory(job.y),
                    in_memory(job.w + 2 * j * job.outputs), cell(job.x + 2 * j), job.outputs);
  }
}

namespace {

/// Whether code reads what lists of weights say.
bool reads_list(const CoreCode& code, const LeftOut& job) {
  return job.listed && !code.params().list_free;
}

/// Whether a loop over inputs has an edge. Written out it is as long as the longest list of whole
/// inputs, and is entered behind what a core has fewer; runs differ from input to input.
bool has_edge(const CoreCode& code, const LeftOut& job) {
  const InferenceParams& params = code.params();
  const bool reads = reads_list(code, job);
  return !params.unrolled || (reads && !(job.whole && params.moving_descriptors));
}

/// Where a written-out loop over a list is entered.
void enter_list(CoreCode& code, const LeftOut& job) {
  if (reads_list(code, job) && !has_edge(code, job)) code.test();
}

/// Scalar code before the instructions of an input: the edge of its loop, what says which input it
/// is or how many runs it has, and its `numbers` up to the first that is not zero, of which so many
/// are `zeros`. Behind all but the last the way goes on if it is zero, behind the last if it is
/// not.
std::uint32_t before_input(const CoreCode& code, const LeftOut& job, std::uint32_t numbers,
                           std::uint32_t zeros) {
  const ScalarParams& s = code.costs().scalar;
  std::uint32_t cycles = has_edge(code, job) ? s.loop.value() : 0U;
  if (reads_list(code, job)) cycles += s.load;
  if (!job.tests) return cycles;
  const std::uint32_t tested = std::min(zeros + 1, numbers);
  const bool branches = zeros + 1 != numbers;
  return cycles + tested * (s.load + s.dependent) + (tested - 1) * s.branch_not +
         (branches ? s.branch_taken.value() : s.branch_not.value());
}

/// Behind the test of an input that is left out: the next one's weights lie behind its own.
std::uint32_t past_weights(const CoreCode& code, const SparseGemv& job) {
  const ScalarParams& s = code.costs().scalar;
  if (!reads_list(code, job)) return 0;
  if (!code.params().moving_descriptors) return s.load;
  return job.whole ? 0U : s.load + s.dsr_write;
}

/// Scalar code of a run of outputs: the edge of its loop, the word that says where its outputs
/// are, and what is written of descriptors that `stand`: where the outputs are and how many; the
/// weights lie behind each other, unless an input between has been left out.
std::uint32_t before_run(const CoreCode& code, const SparseGemv& job, bool stand) {
  const ScalarParams& s = code.costs().scalar;
  if (!job.whole && !code.params().list_free) return s.loop + s.load + 2 * s.dsr_write;
  return stand && !job.tests ? 0U : s.dsr_write.value();
}

}  // namespace

void write_sparse_gemv(CoreCode& code, const SparseGemv& job, Element sum) {
  const LocalGemv& d = job.dense;
  const unsigned bytes = bytes_of(sum);
  if (!d.adds) code.move(sum, in_memory(d.y), number(0), d.outputs);
  enter_list(code, job);
  const std::vector<OutputRun> all = {{0, d.outputs}};
  std::uint32_t w = d.w;
  bool stand = false;  // the descriptors in their registers
  for (std::uint32_t j = 0; j < d.inputs; ++j) {
    const std::vector<OutputRun>& runs = job.listed ? job.runs[j] : all;
    if (runs.empty() && job.whole) continue;
    const bool zero = job.tests && job.zero[j];
    code.scalar(before_input(code, job, 1, zero ? 1 : 0));
    if (!job.tests) code.scalar(code.costs().scalar.load);
    if (zero) code.scalar(past_weights(code, job));
    // that there is no run is seen as the end of a loop over them
    if (runs.empty() && reads_list(code, job)) code.test();
    for (const OutputRun& run : runs) {
      const std::uint32_t from = w;
      w += 2 * run.count;
      if (zero) continue;
      code.scalar(before_run(code, job, stand));
      code.multiply_add(stand, products(sum), in_memory(d.y + bytes * run.first), in_memory(from),
                        cell(d.x + 2 * j), run.count);
      stand = code.params().moving_descriptors;
    }
  }
}

void write_tile(CoreCode& code, const SparseTile& job, Element sum, Element operand) {
  const unsigned bytes = bytes_of(operand);
  const Element product = operand == Element::fp32 ? operand : products(sum);
  code.test();
  for (std::uint32_t i = 0; i < job.inputs; ++i) {
    for (std::uint32_t j = 0; j < job.outputs; ++j) {
      code.stream(product, in_memory(job.sums + bytes_of(sum) * j * job.pitch),
                  in_memory(job.activations + bytes * i * job.pitch),
                  cell(job.weights + bytes * (i * job.outputs + j)), job.tokens);
    }
  }
}

namespace {

/// Scalar code of a run of outputs of a tile: the edge of its loop and the word that says where
/// its outputs are, what is written of descriptors - that of the input, once, if it stands - and
/// the first weight.
std::uint32_t before_tile_run(const CoreCode& code, const SparseTile& job, bool input_stands) {
  const ScalarParams& s = code.costs().scalar;
  const bool loops = !job.whole && !code.params().list_free;
  return (loops ? s.loop + s.load : 0U) + (input_stands ? 1U : 2U) * s.dsr_write + s.load;
}

}  // namespace

void write_sparse_tile(CoreCode& code, const SparseTile& job, Element sum) {
  const unsigned bytes = bytes_of(sum);
  const std::vector<OutputRun> all = {{0, job.outputs}};
  code.test();
  enter_list(code, job);
  std::uint32_t w = job.weights;
  bool stand = false;  // the descriptors in their registers
  for (std::uint32_t i = 0; i < job.inputs; ++i) {
    const std::vector<OutputRun>& runs = job.listed ? job.runs[i] : all;
    if (runs.empty() && job.whole) continue;
    const std::uint32_t zeros = job.tests ? job.zeros[i] : 0;
    code.scalar(before_input(code, job, job.tokens, zeros));
    const bool left_out = job.tests && zeros == job.tokens;
    // the next input's weights lie behind those that are left out
    if (left_out && reads_list(code, job)) code.scalar(code.costs().scalar.load);
    // that there is no run is seen as the end of a loop over them
    if (runs.empty() && reads_list(code, job)) code.test();
    const Operand x = in_memory(job.activations + 2 * i * job.pitch);
    bool input_stands = false;
    for (const OutputRun& run : runs) {
      const std::uint32_t from = w;
      w += 2 * run.count;
      if (left_out) continue;
      code.scalar(before_tile_run(code, job, input_stands));
      for (std::uint32_t j = 0; j < run.count; ++j) {
        const Operand to = in_memory(job.sums + bytes * (run.first + j) * job.pitch);
        if (j == 0) {
          code.multiply_add(stand, products(sum), to, x, cell(from), job.tokens);
        } else {
          code.stream(products(sum), to, x, cell(from + 2 * j), job.tokens);
        }
      }
      stand = input_stands = code.params().moving_descriptors;
    }
  }
}

void write_halves(CoreCode& code, std::uint32_t to, std::uint32_t from, std::uint32_t elements,
                  Element sum) {
  if (to == from) return;
  code.move(sum == Element::fp32 ? Element::fp32_16 : Element::fp16, in_memory(to), in_memory(from),
            elements);
}

void write_token_products(CoreCode& code, const TokenRows& rows, std::uint32_t to, std::uint32_t a,
                          std::optional<std::uint32_t> b, std::uint32_t features, Element from,
                          Element sum) {
  const Element product = from == sum ? sum : products(sum);
  const auto add = [&](const Operand& sums, std::uint32_t first, std::uint32_t elements) {
    code.vector(VectorOp::fma, product, sums, in_memory(a + first),
                b ? in_memory(*b + first) : number(1), elements);
  };
  if (rows.tokens == 1) {
    code.number_op(VectorOp::move, sum, to, number(0));
    return add(in_memory(to, 0), 0, features);
  }
  code.move(sum, in_memory(to), number(0), rows.tokens);
  for (std::uint32_t i = 0; i < features; ++i) {
    add(in_memory(to), bytes_of(from) * i * rows.pitch, rows.tokens);
  }
}

void write_of_tokens(CoreCode& code, const TokenRows& rows, VectorOp op, Element element,
                     std::uint32_t to, std::uint32_t from, std::uint32_t features, float first) {
  code.move(element, in_memory(to), number(first), rows.pitch);
  code.vector(op, element, rows.each_token(to), in_memory(from), rows.each_token(to),
              features * rows.pitch);
}

void write_inverse_rms(CoreCode& code, std::uint32_t stats, std::uint32_t count,
                       std::uint32_t width, Element sum, float epsilon) {
  const Operand at = in_memory(stats);
  code.vector(VectorOp::mul, sum, at, at, number(1.0F / static_cast<float>(width)), count);
  code.vector(VectorOp::add, sum, at, at, number(epsilon), count);
  code.vector(VectorOp::rsqrt, sum, at, at, Operand(), count);
}

void write_normalised(CoreCode& code, const Normalised& job, Element sum) {
  write_inverse_rms(code, job.stats, 1, job.width, sum);
  write_halves(code, job.stats16, job.stats, 1, sum);
  const Operand z = in_memory(job.z);
  code.vector(VectorOp::mul, Element::fp16, z, in_memory(job.x), in_memory(job.gain), job.elements);
  code.vector(VectorOp::mul, Element::fp16, z, z, cell(job.stats16), job.elements);
}

void write_exp(CoreCode& code, std::uint32_t to, std::uint32_t x, std::uint32_t elements,
               Element sum) {
  const InferenceParams& params = code.params();
  const Operand in = in_memory(x);
  const Operand out = in_memory(to);
  const auto vector = [&](VectorOp op, const Operand& result, const Operand& a, const Operand& b) {
    code.vector(op, sum, result, a, b, elements);
  };
  vector(VectorOp::max, in, in, number(kLeastExponent));
  vector(VectorOp::mul, in, in, number(std::ldexp(1.0F, -static_cast<int>(params.exp_squarings))));
  std::vector<float> c = {1};
  for (unsigned i = 1; i <= params.exp_degree; ++i) c.push_back(c.back() / static_cast<float>(i));
  vector(VectorOp::mul, out, in, number(c.back()));
  for (c.pop_back(); c.size() > 1; c.pop_back()) {
    vector(VectorOp::add, out, out, number(c.back()));
    vector(VectorOp::mul, out, out, in);
  }
  vector(VectorOp::add, out, out, number(c.back()));
  for (unsigned i = 0; i < params.exp_squarings; ++i) vector(VectorOp::mul, out, out, out);
}

std::vector<double> sigmoid_coefficients(unsigned terms) {
  const unsigned n = terms + 1;
  constexpr double kPi = 3.14159265358979323846;
  std::vector<std::vector<double>> rows;  // powers of z at a node, then the value
  for (unsigned i = 0; i < n; ++i) {
    const double x = kSigmoidRange * std::cos(kPi * (2 * i + 1) / (4.0 * n));
    std::vector<double> row = {1};
    for (unsigned j = 1; j < n; ++j) row.push_back(row.back() * x * x);
    row.push_back((1 / (1 + std::exp(-x)) - 0.5) / x);
    rows.push_back(std::move(row));
  }
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = rows[r][i] / rows[i][i];
      for (unsigned c = i; c <= n; ++c) rows[r][c] -= factor * rows[i][c];
    }
  }
  std::vector<double> c;
  for (unsigned i = 0; i < n; ++i) c.push_back(rows[i][n] / rows[i][i]);
  return c;
}

std::uint32_t write_silu(CoreCode& code, const GatedUnit& job, Element sum) {
  const std::uint32_t array = job.elements * bytes_of(sum);
  const Operand gate = in_memory(job.gate);
  const Operand in = in_memory(job.work);
  const Operand square = in_memory(job.work + array);
  const Operand out = in_memory(job.work + 2 * array);
  const auto vector = [&](VectorOp op, const Operand& result, const Operand& a, const Operand& b) {
    code.vector(op, sum, result, a, b, job.elements);
  };
  // within the range: the larger one, then the smaller one as the sum of both less the larger
  vector(VectorOp::max, in, gate, number(-kSigmoidRange));
  vector(VectorOp::max, out, in, number(kSigmoidRange));
  vector(VectorOp::sub, in, in, out);
  vector(VectorOp::add, in, in, number(kSigmoidRange));
  vector(VectorOp::mul, square, in, in);
  std::vector<double> c = sigmoid_coefficients(code.params().silu_terms);
  const auto next = [&c] {
    const auto value = static_cast<float>(c.back());
    c.pop_back();
    return number(value);
  };
  vector(VectorOp::mul, out, square, next());
  while (c.size() > 1) {
    vector(VectorOp::add, out, out, next());
    vector(VectorOp::mul, out, out, square);
  }
  vector(VectorOp::add, out, out, next());
  vector(VectorOp::mul, out, out, in);
  vector(VectorOp::add, out, out, number(0.5F));
  vector(VectorOp::mul, out, out, gate);
  if (job.up) vector(VectorOp::mul, out, out, in_memory(*job.up));
  return out.address;
}

std::uint32_t write_scalar_silu(CoreCode& code, const GatedUnit& job, Element sum) {
  const ScalarParams& s = code.costs().scalar;
  const Operand out = in_memory(job.work);
  for (std::uint32_t i = 0; i < job.elements; ++i) {
    const std::uint32_t at = i * bytes_of(sum);
    // gate and up loaded, a special function, two products, the store
    code.scalar(s.loop + 2 * s.load + 1);
    code.number_op(VectorOp::sigmoid, sum, out.address + at, cell(job.gate + at));
    code.number_op(VectorOp::mul, sum, out.address + at, cell(out.address + at),
                   cell(job.gate + at));
    code.number_op(VectorOp::mul, sum, out.address + at, cell(out.address + at),
                   cell(*job.up + at));
  }
  return out.address;
}

void write_scalar_exp(CoreCode& code, std::uint32_t to, std::uint32_t x, std::uint32_t elements,
                      Element sum) {
  const ScalarParams& s = code.costs().scalar;
  for (std::uint32_t i = 0; i < elements; ++i) {
    const std::uint32_t at = i * bytes_of(sum);
    code.scalar(s.loop + s.load + 1);  // and the store
    code.number_op(VectorOp::exp, sum, to + at, cell(x + at));
  }
}

void write_rotation(CoreCode& code, const Rotation& job, Element sum) {
  const unsigned bytes = bytes_of(sum);
  const std::uint32_t array = job.pairs * job.tokens * bytes;
  const auto of_each_pair = [&](std::uint32_t address) {
    Operand operand = in_memory(address, job.tokens == 1 ? 2 : 1);
    if (job.tokens == 1) return operand;
    operand.inner = job.tokens;
    operand.outer = static_cast<std::int32_t>(2 * job.tokens);
    return operand;
  };
  const Operand even = of_each_pair(job.x);
  const Operand odd = of_each_pair(job.x + bytes * job.tokens);
  const Operand cos = in_memory(job.cos);
  const Operand sin = in_memory(job.sin);
  const auto work = [&](std::uint32_t i) { return in_memory(job.work + i * array); };
  const auto vector = [&](VectorOp op, const Operand& to, const Operand& a, const Operand& b) {
    code.vector(op, sum, to, a, b, job.pairs * job.tokens);
  };
  vector(VectorOp::mul, work(0), even, cos);
  vector(VectorOp::mul, work(1), odd, sin);
  vector(VectorOp::mul, work(2), even, sin);
  vector(VectorOp::mul, work(3), odd, cos);
  vector(VectorOp::sub, even, work(0), work(1));
  vector(VectorOp::add, odd, work(2), work(3));
}

}  // namespace lacuna::wse
