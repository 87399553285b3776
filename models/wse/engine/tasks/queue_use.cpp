// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/queue_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

/// One core program's queues against what its instructions ask of them.
class QueueCheck {
 public:
  explicit QueueCheck(const TaskParams& params)
      : params_(params), in_(params.queue.in_depths()), out_(params.queue.out_depths()) {}

  void check(const CoreProgram& core, const Instruction& what) const {
    const bool pairs = what.simd64 && params_.core.fabric_simd64;
    const unsigned words = pairs ? 2U : params_.core.fabric_words_per_issue.value();
    if (words == 1) return;
    const std::uint32_t elements =
        std::min(elements_per_beat(what, params_.simd, words), what.length);
    for (const Operand* operand : {&what.a, &what.b}) {
      check(*operand, "input", in_, in_queue(core, operand->color),
            words_of(source_bytes(what.element), elements),
            [this](unsigned depth) { return QueueShapes(params_.router).ramp_down(depth); });
    }
    check(what.to, "output", out_, out_queue(core, what.to.color),
          words_of(result_bytes(what.element), elements), QueueShapes::output);
  }

 private:
  template <class Shape>
  static void check(const Operand& operand, const char* kind, const std::vector<unsigned>& depths,
                    unsigned queue, std::uint32_t words, const Shape& shape) {
    if (operand.kind != Operand::Kind::fabric) return;
    if (queue >= depths.size() || shape(depths[queue]).capacity >= words) return;
    throw ParameterError(fmt::format(
        "queue.{}: {} queue {} of {} words can never hold the {} words that an instruction of this "
        "program handles in an issue slot (core.fabric_simd64, core.fabric_words_per_issue)",
        kind[0] == 'i' ? "in" : "out", kind, queue, depths[queue], words));
  }

  const TaskParams& params_;
  const std::vector<unsigned> in_;
  const std::vector<unsigned> out_;
};

}  // namespace

void require_queues(const TaskParams& params, const TaskProgram& program) {
  const QueueCheck queues(params);
  for (const CoreProgram& core : program.cores) {
    for (const Task& task : core.tasks) {
      for (const Step& step : task.steps) {
        if (step.kind == Step::Kind::vector) queues.check(core, step.vector);
      }
    }
  }
}

}  // namespace lacuna::wse
