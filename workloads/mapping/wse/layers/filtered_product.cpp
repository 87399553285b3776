// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/filtered_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "models/common/fp16.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/mapping/wse/layers/product_operands.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

using Half = std::uint16_t;

constexpr Color kAlongRows{0};      // blocks of W
constexpr Color kAlongColumns{1};   // elements of X
constexpr std::uint8_t kTakeW = 1;  // microthreads
constexpr std::uint8_t kSendW = 2;
constexpr std::uint8_t kSendX = 3;

// Tasks of a core. The word of an element starts the first of data; the one that ends a block of X
// says into which buffer the block of W after the next is to be taken: none, the first or the
// second.
constexpr TaskIndex kEnds = 2;
constexpr std::uint32_t kEndKinds = 3;
constexpr TaskIndex kClose = kEnds + kEndKinds;

/// Both the switch of the sender and that of the next one move; the one before stands at its end.
constexpr SwitchCommands kNextSender = static_cast<SwitchCommands>(
    first_command(SwitchCommand::advance) | first_command(SwitchCommand::advance) << 2U);

/// An element that is not zero, by its place in a block of X.
struct Place {
  std::uint32_t k = 0;
  std::uint32_t j = 0;
};

class FilteredProduct : SlotProduct {
 public:
  explicit FilteredProduct(const LayerRequest& request) : SlotProduct(request) {}

  LayerPlan plan() {
    LayerPlan plan;
    choose();
    plan.blocks = shape_;
    deal_elements();
    const std::uint64_t each = place_blocks();
    check_core_bytes(request_, each * layout_.instances(0), plan);
    plan.mac_useful = operands_.x_elements().columns.size() * op_.m * op_.batch;
    plan.mac_algorithmic = mac_algorithmic();
    add_in_slots({find_elements(), multiply()}, plan);
    add_notes(plan);
    if (!request_.values) return plan;
    fill(plan);
    plan.compare = [self = *this](const WaferMemory& memory) { return self.compare(memory); };
    return plan;
  }

 private:
  void choose();
  std::uint64_t estimate(const ProductShape& shape) const;
  void deal_elements();
  std::uint64_t place_blocks();
  std::uint32_t element_cycles() const;
  LayerStage find_elements() const;
  LayerStage multiply() const;
  CoreProgram core(std::uint32_t r, std::uint32_t c) const;
  Task start(std::uint32_t r, std::uint32_t c) const;
  Task element_task() const;
  Task end_task(std::uint32_t kind) const;
  Task close_task(std::uint32_t kind) const;
  Step take_w(std::uint32_t buffer) const;
  void add_notes(LayerPlan& plan) const;
  void fill(LayerPlan& plan) const;
  void fill_list(std::uint32_t slot, std::uint32_t r, std::uint32_t c,
                 std::vector<std::uint8_t>& memory) const;
  LayerComparison compare(const WaferMemory& memory) const;

  const std::vector<Place>& list(std::uint32_t r, std::uint32_t c) const {
    return lists_[std::size_t{r} * shape_.side + c];
  }
  /// Of the block of W that the core (r, c) of a column multiplies while (step, c) sends.
  std::uint32_t own() const { return shape_.side == 1 ? 0 : 2; }
  std::uint32_t buffer_of(std::uint32_t step, std::uint32_t c) const {
    return step == c ? own() : step % 2;
  }
  std::uint32_t end_kind(std::uint32_t step, std::uint32_t c) const {
    const std::uint32_t next = step + 2;
    return next >= shape_.side || next == c ? 0 : 1 + next % 2;
  }
  /// A block of W as a row sends it: vectors without what is between them.
  Operand block_of_w(std::uint32_t buffer) const {
    Operand block = in_memory(w_at_ + buffer * shape_.inner * stride() * bytes());
    block.inner = shape_.rows;
    block.outer = static_cast<std::int32_t>(stride());
    return block;
  }
  /// From one vector to the next: whole rows of banks, so that no conflict depends on an index.
  std::uint32_t stride() const { return (shape_.rows + 7) / 8 * 8; }

  std::vector<std::vector<Place>> lists_;  // by core, row-major
  std::uint32_t most_ = 0;                 // of a list
  std::uint32_t w_at_ = 0;                 // three buffers: of two blocks that come, and its own
  std::uint32_t x_at_ = 0;
  std::uint32_t list_at_ = 0;
  std::uint32_t number_at_ = 0;
  std::uint32_t sums_at_ = 0;
};

/// Scalar code around the multiply-accumulate of an element: the two addresses of its word, its
/// number.
std::uint32_t FilteredProduct::element_cycles() const {
  const ScalarParams& scalar = request_.setup.costs.scalar;
  return 2 * scalar.imul + 2 * scalar.dsr_write + scalar.load + request_.setup.costs.next(0);
}

/// Cycles, roughly: of the mean core's elements, the blocks of W it takes, and the turns of
/// senders.
std::uint64_t FilteredProduct::estimate(const ProductShape& shape) const {
  const TaskParams& hardware = request_.setup.hardware;
  const std::uint64_t arriving = ceil_div(operands_.x_elements().columns.size(), shape.side);
  const std::uint64_t each = element_cycles() + request_.setup.costs.next(2) + 1 +
                             hardware.core.dispatch + ceil_div(shape.rows, hardware.simd.fma16);
  const std::uint64_t turn = 2 * std::uint64_t{hardware.router.ramp} + 4 +
                             request_.setup.costs.scalar.loop +
                             ceil_div(std::uint64_t{shape.rows} * shape.inner, 2);
  const std::uint64_t scan = std::uint64_t{shape.inner} * shape.columns *
                             (request_.setup.costs.scalar.loop + request_.setup.costs.scalar.load);
  return scan + arriving * each + shape.side * turn;
}

void FilteredProduct::choose() {
  constexpr std::uint32_t kIndices = 65536;  // halves of a word tell so many places apart
  const auto cycles = [&](const ProductShape& shape) {
    const bool told = 3 * std::uint64_t{shape.inner} <= kIndices && shape.columns <= kIndices;
    return told && shape.along_rows ? estimate(shape) : kNone;
  };
  if (choose_shape(cycles)) return;
  const std::uint32_t most = most_side();
  throw UnsupportedError(
      fmt::format("bmm '{}': an element of X says its place in its block in two halves of a word; "
                  "blocks of {} x {} on {} x {} cores have more than {} places",
                  op_.id, ceil_div(op_.k, most), ceil_div(op_.n, most), most, most, kIndices));
}

void FilteredProduct::deal_elements() {
  const Mask& x = operands_.x_elements();
  lists_.assign(std::size_t{shape_.side} * shape_.side, {});
  for (std::uint32_t k = 0; k < x.rows; ++k) {
    for (std::uint64_t e = x.offsets[k]; e < x.offsets[k + 1]; ++e) {
      const std::uint32_t j = x.columns[e];
      lists_[std::size_t{k / shape_.inner} * shape_.side + j / shape_.columns].push_back(
          {k % shape_.inner, j % shape_.columns});
    }
  }
  for (const auto& list : lists_) most_ = std::max(most_, static_cast<std::uint32_t>(list.size()));
}

/// Vectors of W and of Y lie so that a beat reads one of each in a cycle.
std::uint64_t FilteredProduct::place_blocks() {
  CoreSpace all;
  const std::uint64_t vectors = std::uint64_t{shape_.inner} * stride();
  w_at_ = all.take((own() + 1) * vectors, bytes(), Half8::upper);
  x_at_ = all.take(std::uint64_t{shape_.inner} * shape_.columns, bytes());
  list_at_ = all.take(2 * std::uint64_t{most_}, 4);
  number_at_ = all.take(1, 4);
  sums_at_ = all.take(std::uint64_t{shape_.columns} * stride(), bytes_of(sum_type()));
  return all.bytes();
}

/// A loop of scalar code over the block: each element is loaded and tested, and of what is not zero
/// its place and its number are stored, as long as a load each.
LayerStage FilteredProduct::find_elements() const {
  const ScalarParams& scalar = request_.setup.costs.scalar;
  LayerStage stage;
  stage.name = "find non-zeros";
  TaskBuilder builder(shape_.side, shape_.side);
  std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> programs;
  for (std::uint32_t r = 0; r < shape_.side; ++r) {
    for (std::uint32_t c = 0; c < shape_.side; ++c) {
      const auto within = [](std::uint32_t at, std::uint32_t size, std::uint32_t all) {
        const std::uint64_t begin = std::uint64_t{at} * size;
        return begin >= all ? 0 : std::min<std::uint64_t>(size, all - begin);
      };
      const auto elements = static_cast<std::uint32_t>(within(r, shape_.inner, op_.k) *
                                                       within(c, shape_.columns, op_.n));
      const std::size_t found = list(r, c).size();
      const auto [known, fresh] = programs.try_emplace({elements, found}, 0U);
      if (fresh) {
        CoreCode code(request_.setup.costs, request_.setup.functions);
        code.scalar(elements * (scalar.loop + scalar.load) +
                    2 * static_cast<std::uint32_t>(found) * scalar.load);
        known->second = builder.add(std::move(code).finish());
      }
      builder.core(builder.place(r, c), known->second);
    }
  }
  stage.places.push_back({0, 0, 0});
  stage.parts.push_back(std::move(builder).finish());
  return stage;
}

Step FilteredProduct::take_w(std::uint32_t buffer) const {
  Instruction take = move(operand(), block_of_w(buffer), on_fabric(kAlongRows),
                          std::uint64_t{shape_.inner} * shape_.rows);
  take.thread = kTakeW;
  return run(take);
}

/// What is sent waits in its queue until the switch of its color lets it go.
Task FilteredProduct::start(std::uint32_t r, std::uint32_t c) const {
  CoreCode code(request_.setup.costs, request_.setup.functions);
  Task task;
  task.active = true;
  if (shape_.side > 1) {
    Instruction send = move(operand(), on_fabric(kAlongRows), block_of_w(own()),
                            std::uint64_t{shape_.inner} * shape_.rows);
    send.thread = kSendW;
    send.switches = kNextSender;
    task.steps.push_back(run(send));
    if (c != 0) task.steps.push_back(take_w(0));
  }
  // of a word two, so that no bit is lost
  Instruction send =
      move(Element::int16, on_fabric(kAlongColumns), in_memory(list_at_), 4 * list(r, c).size());
  send.thread = kSendX;
  send.activates = kClose;
  task.steps.push_back(send.length == 0 ? activate(kClose) : run(send));
  code.move(sum(), in_memory(sums_at_), number(0), std::uint64_t{shape_.columns} * stride());
  code.wait_for(kTakeW);
  for (Step& step : std::move(code).take_steps()) task.steps.push_back(std::move(step));
  if (shape_.side > 1 && c != 1) task.steps.push_back(take_w(1));
  return task;
}

/// The first word of an element says its places, the second is its number.
Task FilteredProduct::element_task() const {
  Task task;
  task.kind = Task::Kind::data;
  task.color = kAlongColumns;
  const Instruction fma =
      instruction(VectorOp::fma, product(), at_offset(sums_at_, stride() * bytes_of(sum_type())),
                  at_index(w_at_, stride() * bytes()), cell(number_at_), shape_.rows);
  task.steps = {work(request_.setup.costs.next(2)),
                run(move(Element::int16, in_memory(number_at_), on_fabric(kAlongColumns), 2)),
                work(element_cycles()), run(fma)};
  return task;
}

/// Nothing of the next block is multiplied before its block of W is there.
Task FilteredProduct::end_task(std::uint32_t kind) const {
  Task task;
  task.kind = Task::Kind::control;
  task.id = static_cast<std::uint8_t>(kind);
  CoreCode code(request_.setup.costs, request_.setup.functions);
  code.wait_for(kTakeW);
  task.steps = std::move(code).take_steps();
  if (kind != 0) task.steps.push_back(take_w(kind - 1));
  task.steps.push_back(work(request_.setup.costs.scalar.loop));
  return task;
}

Task FilteredProduct::close_task(std::uint32_t kind) const {
  Task task;
  Instruction end =
      move(Element::int32, on_fabric(kAlongColumns), number(static_cast<float>(kind << 16U)), 1);
  end.thread = kSendX;
  end.control = true;
  if (shape_.side > 1) end.switches = kNextSender;
  task.steps = {run(end)};
  return task;
}

CoreProgram FilteredProduct::core(std::uint32_t r, std::uint32_t c) const {
  CoreProgram core;
  core.tasks.push_back(start(r, c));
  core.tasks.push_back(element_task());
  for (std::uint32_t kind = 0; kind < kEndKinds; ++kind) core.tasks.push_back(end_task(kind));
  core.tasks.push_back(close_task(end_kind(r, c)));
  core.in = {{kAlongColumns, 1}};
  core.out = {{kAlongColumns, 3}};
  if (shape_.side == 1) return core;
  core.in.push_back({kAlongRows, 0});
  core.out.push_back({kAlongRows, 2});
  return core;
}

LayerStage FilteredProduct::multiply() const {
  LayerStage stage;
  stage.name = "multiply";
  TaskBuilder builder(shape_.side, shape_.side);
  std::map<std::array<std::uint64_t, 3>, std::uint32_t> programs;
  for (std::uint32_t r = 0; r < shape_.side; ++r) {
    for (std::uint32_t c = 0; c < shape_.side; ++c) {
      const std::size_t place = builder.place(r, c);
      if (shape_.side > 1) builder.turn(place, kAlongRows, {c, shape_.side});
      builder.turn(place, kAlongColumns, {r, shape_.side, kNorth, kSouth, true});
      const auto [known, fresh] = programs.try_emplace(
          {std::min(c, 2U), end_kind(r, c), std::uint64_t{list(r, c).size()}}, 0U);
      if (fresh) known->second = builder.add(core(r, c));
      builder.core(place, known->second);
    }
  }
  stage.places.push_back({0, 0, 0});
  stage.parts.push_back(std::move(builder).finish());
  return stage;
}

void FilteredProduct::add_notes(LayerPlan& plan) const {
  plan.notes.emplace_back(
      "plan", fmt::format("{} products at a time on {} x {} cores each, {} in turn; Y stays, what "
                          "is not zero of X is sent along columns, W along rows, blocks W {} x {}, "
                          "X {} x {}",
                          layout_.slots(), shape_.side, shape_.side, layout_.instances(0),
                          shape_.rows, shape_.inner, shape_.inner, shape_.columns));
  plan.notes.emplace_back("elements of X", fmt::format("{} of {} are sent, at most {} by a core",
                                                       operands_.x_elements().columns.size(),
                                                       std::uint64_t{op_.k} * op_.n, most_));
}

void FilteredProduct::fill_list(std::uint32_t slot, std::uint32_t r, std::uint32_t c,
                                std::vector<std::uint8_t>& memory) const {
  std::uint32_t at = list_at_;
  for (const Place& place : list(r, c)) {
    const std::uint32_t index = buffer_of(r, c) * shape_.inner + place.k;
    const std::uint32_t word = index << 16U | place.j;
    std::memcpy(memory.data() + at, &word, sizeof word);
    store(memory, at + 4, 0, op_.dtype,
          operands_.x(slot, r * shape_.inner + place.k, c * shape_.columns + place.j));
    at += 8;
  }
}

void FilteredProduct::fill(LayerPlan& plan) const {
  fill_slots(plan, [&](std::uint32_t slot, std::uint32_t r, std::uint32_t c,
                       std::vector<std::uint8_t>& memory) {
    fill_list(slot, r, c, memory);
    for (std::uint32_t k = 0; k < shape_.inner; ++k) {
      for (std::uint32_t i = 0; i < shape_.rows; ++i) {
        const std::uint32_t row = r * shape_.rows + i;
        const std::uint32_t in = c * shape_.inner + k;
        if (row >= op_.m || in >= op_.k) continue;
        const std::uint64_t vector = own() * shape_.inner + k;
        store(memory, w_at_, vector * stride() + i, op_.dtype, operands_.w(slot, row, in));
      }
    }
  });
}

LayerComparison FilteredProduct::compare(const WaferMemory& memory) const {
  return compare_slots(memory, PairFunction::dot,
                       [&](const std::vector<std::uint8_t>& of_core, std::uint32_t, std::uint32_t i,
                           std::uint32_t j) {
                         return load(of_core, sums_at_, std::uint64_t{j} * stride() + i,
                                     sum_type());
                       });
}

}  // namespace

LayerPlan plan_filtered_product(const LayerRequest& request) {
  return FilteredProduct(request).plan();
}

}  // namespace lacuna::wse
