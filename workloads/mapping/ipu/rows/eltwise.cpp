// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "models/common/fp8.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/functions/element_functions.hpp"
#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/rows/element_passes.hpp"
#include "workloads/mapping/ipu/shared_vector.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::size_t kMostTensors = 3;

/// What is computed, apart from where: the same for tiles and for the reference.
struct Elements {
  const ElementFunction* function = nullptr;
  DType source = DType::fp16;  // of the operands; `type` of the result
  DType type = DType::fp16;
  std::uint64_t period = 1;  // of the shared vector
  std::uint64_t seed = 0;
  std::uint64_t count = 0;
  double sigma = 0;
  const GivenOperands* given = nullptr;

  double operand(unsigned tensor, std::uint64_t e) const {
    return RealOperands{sigma, source, given}(seed + tensor, e);
  }
  double shared_operand(std::uint64_t i) const {
    return RealOperands{sigma, type, given}(seed + kMostTensors, i);
  }

  bool dropout() const { return function->name == std::string("dropout"); }

  /// Result `r` of element e, whose operands `read(tensor, e)` gives and whose shared number
  /// `shared(i)`.
  template <class Read, class Shared>
  double result(std::uint64_t e, unsigned r, const Read& read, const Shared& shared) const {
    std::array<double, kMostTensors> x{};
    std::array<double, kMostTensors> pair{};
    const std::uint64_t partner = (e ^ 1U) < count ? e ^ 1U : e;
    for (unsigned t = 0; t < function->tensors; ++t) {
      x.at(t) = read(t, e);
      pair.at(t) = function->tensors == 3 ? read(t, partner) : x.at(t);
    }
    double s = 0;
    if (function->shared != ElementFunction::Shared::none) s = shared(e % period);
    if (dropout()) s = dropout_factor(seed, e);
    const double value = function->value({x.data(), s, pair.data(), r});
    return type == DType::fp8 ? from_quarter(to_quarter(static_cast<float>(value))) : value;
  }
};

/// Addresses of a tile's regions, in words; the same on every tile.
struct Regions {
  std::array<std::uint32_t, kMostTensors> tensors{};
  std::array<std::uint32_t, 2> results{};
  std::uint32_t shared = 0;
  std::uint32_t end = 0;
};

/// A tile's vertex: the elements [begin, end).
struct ElementVertex {
  Elements elements;
  Regions regions;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  void operator()(TileMemory& memory) const {
    const DType source = elements.source;
    const auto read = [&](unsigned t, std::uint64_t e) -> double {
      const std::uint64_t base = regions.tensors.at(t) * std::uint64_t{4} / bytes_of(source);
      return read_element(memory, source, base + e - begin);
    };
    const auto shared = [&](std::uint64_t i) -> double {
      const std::uint64_t base = regions.shared * std::uint64_t{4} / bytes_of(elements.type);
      return read_element(memory, elements.type, base + i);
    };
    for (std::uint64_t e = begin; e < end; ++e) {
      for (unsigned r = 0; r < elements.function->results; ++r) {
        const std::uint64_t to =
            regions.results.at(r) * std::uint64_t{4} / bytes_of(elements.type) + e - begin;
        write_element(memory, elements.type, to,
                      static_cast<float>(elements.result(e, r, read, shared)));
      }
    }
  }
};

class EltwiseLowering {
 public:
  EltwiseLowering(const OperationRequest& request, const ElementFunction& function)
      : request_(request),
        pass_(element_pass(request.op)),
        target_(make_target(request.chip, request.planner)),
        elements_(make_elements(request, function)),
        builder_(request.chip),
        codelets_(builder_, target_, request.op.dtype),
        map_(elements_.count, codelets_.width(), target_.tiles),
        shared_(function.shared == ElementFunction::Shared::none ? 0 : elements_.period,
                bytes_of(request.op.dtype), target_.tiles) {}

  PlannedOperation run() {
    lay_out();
    exchange_shared();
    compute();
    if (request_.values) place_operands();
    return finish();
  }

 private:
  static Elements make_elements(const OperationRequest& request, const ElementFunction& function) {
    const LayerOp& op = request.op;
    Elements e;
    e.function = &function;
    e.type = e.source = op.dtype;
    if (op.fn == "cast") e.source = op.dtype == DType::fp16 ? DType::fp32 : DType::fp16;
    e.period = function.shared == ElementFunction::Shared::columns ? op.n : op.m;
    e.seed = request.seed;
    e.sigma = request.sigma;
    e.given = request.given;
    e.count = std::uint64_t{op.m} * op.n * op.batch;
    return e;
  }

  void lay_out();
  void exchange_shared();
  void compute();
  void place_operands();
  PlannedOperation finish();
  void image(TileId tile, std::uint32_t address, const std::vector<float>& values, DType type) {
    if (values.empty()) return;
    builder_.program().images.push_back({{tile, address}, pack_words(values, type)});
  }

  const OperationRequest& request_;
  const VectorPass& pass_;
  const Target target_;
  const Elements elements_;
  ProgramBuilder builder_;
  VectorCodelets codelets_;
  LinearMap map_;
  SharedVector shared_;
  Regions regions_;
};

void EltwiseLowering::lay_out() {
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t elements, DType type) {
    const std::uint64_t begin = next;
    next += ceil_div(elements * bytes_of(type), 8) * 2;
    return static_cast<std::uint32_t>(begin);
  };
  const ElementFunction& f = *elements_.function;
  const std::uint64_t share = map_.share();
  // A vector beyond the address range of a word would not fit a tile either.
  check_tile_bytes(
      request_.chip, request_.op,
      share * (f.tensors * bytes_of(elements_.source) + f.results * bytes_of(elements_.type)) +
          shared_.size() * bytes_of(elements_.type));
  for (unsigned t = 0; t < f.tensors; ++t) regions_.tensors.at(t) = take(share, elements_.source);
  for (unsigned r = 0; r < f.results; ++r) regions_.results.at(r) = take(share, elements_.type);
  regions_.shared = take(shared_.size(), elements_.type);
  regions_.end = static_cast<std::uint32_t>(next);
  builder_.operands(OperandBytes()
                        .add(Operand::input, share * f.tensors * bytes_of(elements_.source))
                        .add(Operand::weight, shared_.size() * bytes_of(elements_.type))
                        .add(Operand::output, share * f.results * bytes_of(elements_.type)));
}

void EltwiseLowering::exchange_shared() {
  if (shared_.size() == 0) return;
  const std::uint64_t period = elements_.period;
  map_.for_each(0, elements_.count, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = begin % period;
    if (first + (end - begin) <= period) {
      shared_.need(tile, first, first + (end - begin));
    } else {
      shared_.need(tile, 0, period);
    }
  });
  TransferList list;
  shared_.transfers(regions_.shared, list);
  builder_.superstep(kNone, builder_.exchange("shared vector", list));
}

void EltwiseLowering::compute() {
  map_.for_each(0, elements_.count, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
    const std::uint32_t vertex = codelets_.shared_vertex(pass_, end - begin);
    const std::uint32_t function =
        request_.values ? builder_.function(ElementVertex{elements_, regions_, begin, end}) : kNone;
    builder_.work(tile, vertex, function);
  });
  builder_.superstep(builder_.compute_set(request_.op.fn), kNone);
}

void EltwiseLowering::place_operands() {
  std::vector<float> values;
  for (unsigned t = 0; t < elements_.function->tensors; ++t) {
    map_.for_each(0, elements_.count, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
      values.clear();
      for (std::uint64_t e = begin; e < end; ++e) {
        values.push_back(static_cast<float>(elements_.operand(t, e)));
      }
      image(tile, regions_.tensors.at(t), values, elements_.source);
    });
  }
  shared_.for_each_home([&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
    values.clear();
    for (std::uint64_t i = begin; i < end; ++i) {
      values.push_back(static_cast<float>(elements_.shared_operand(i)));
    }
    const auto address =
        static_cast<std::uint32_t>(regions_.shared + begin * bytes_of(elements_.type) / 4);
    image(tile, address, values, elements_.type);
  });
}

PlannedOperation EltwiseLowering::finish() {
  PlannedOperation planned;
  Program& program = builder_.program();
  program.values = request_.values;
  program.memory_words = regions_.end;
  planned.types = {request_.op.dtype, request_.op.dtype};
  planned.lowered.tile_bytes = std::uint64_t{regions_.end} * 4;
  planned.lowered.output = elements_.type;
  planned.notes.emplace_back("plan", fmt::format("{} elements on a tile, {} bundles for each {}",
                                                 map_.share(), pass_.bundles(), codelets_.width()));
  planned.notes.emplace_back("limit of a vector", limit(pass_));
  planned.estimates = {
      {"total", shared_clocks(request_.chip, target_, pass_, codelets_.vectors_of(map_.share()))}};
  planned.compare = [elements = elements_, regions = regions_, map = map_](const ChipMemory& chip) {
    Comparison comparison;
    const auto read = [&](unsigned t, std::uint64_t e) { return elements.operand(t, e); };
    const auto shared = [&](std::uint64_t i) { return elements.shared_operand(i); };
    map.for_each(0, elements.count, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
      const TileMemory& memory = chip(tile);
      for (std::uint64_t e = begin; e < end; ++e) {
        for (unsigned r = 0; r < elements.function->results; ++r) {
          const std::uint64_t at =
              regions.results.at(r) * std::uint64_t{4} / bytes_of(elements.type) + e - begin;
          const double found = read_element(memory, elements.type, at);
          if (elements.given != nullptr) comparison.keep(r * elements.count + e, found);
          compare_element(comparison, found, elements.result(e, r, read, shared), elements.type, 2,
                          0);
        }
      }
    });
    return comparison;
  };
  planned.lowered.program = builder_.take();
  return planned;
}

}  // namespace

PlannedOperation plan_eltwise(const OperationRequest& request) {
  const bool to_bytes = request.op.fn == "cast" && request.op.dtype == DType::fp8;
  if (!to_bytes || request.chip.tile.amp.fp8_macs == 0) check_vector_type(request.op);
  const ElementFunction* function = find_element_function(request.op);
  if (function == nullptr) return plan_rows(request);
  return EltwiseLowering(request, *function).run();
}

}  // namespace lacuna::ipu
