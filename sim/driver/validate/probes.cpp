// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/validate/outcome.hpp"
#include "sim/driver/validate/point_words.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/machines/wse/program/yaml_program.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"

namespace lacuna {

namespace {

/// Lengths of vectors between which a rate is taken, where a point states none.
constexpr std::uint32_t kShort = 512;
constexpr std::uint32_t kLong = 4096;

/// What traces/programs/vector.yaml is asked for.
struct VectorProbe {
  std::string kind;
  std::string type;
  std::uint32_t stride = 1;
  std::uint32_t offset = 0;  // bytes
};

std::string text_of(std::uint32_t number) { return std::to_string(number); }

class Probe : private PointWords {
 public:
  Probe(const ValidationPoint& point, const WseParams& params, Engine engine)
      : PointWords(point), point_(point), params_(params), costs_(params.costs()) {
    options_.engine = engine;
  }

  double value() const {
    using Way = double (Probe::*)() const;
    static const std::map<std::string, Way> ways = {
        {"vector_operation", &Probe::vector_operation},
        {"vector_operation_bank_conflict", &Probe::bank_conflict},
        {"router_hop", &Probe::hop},
        {"link_stream", &Probe::link},
        {"line_multicast", &Probe::multicast},
        {"data_task_per_word", &Probe::word_task},
        {"send_per_word", &Probe::send_loop},
        {"store_and_forward_stage", &Probe::store_and_forward},
        {"store_and_forward_chain", &Probe::store_and_forward},
        {"column_park_and_reload", &Probe::park_and_reload},
        {"column_park_and_reload_marginal", &Probe::park_and_reload},
        {"all_reduce_two_phase", &Probe::all_reduce},
        {"send_bulk", &Probe::first_word},
        {"vector_and_scalar_overlap", &Probe::overlap},
        {"vector_reduction_to_scalar", &Probe::to_register},
        {"vector_to_scalar_register", &Probe::to_register},
        {"branch", &Probe::branch},
        {"fma_4096_elements", &Probe::fma_4096},
        {"core_memory", &Probe::core_memory},
        {"stencil_star2d", &Probe::tiled_stencil},
        {"stencil_5pt_one_point_per_core", &Probe::point_stencil}};
    const auto found = ways.find(point_.workload);
    if (found != ways.end()) return (this->*found->second)();
    if (point_.workload == "issue_interval" && point_.metric == "interval") {
      if (text("operations") == "independent_scalar_fp") return 1;
      if (text("operations") == "dependent_scalar_fp") return params_.scalar.dependent;
      unknown("operations");
    }
    if (point_.workload == "descriptor_load_to_use") return params_.vec.setup_use;
    if (point_.workload == "receive_bulk") return params_.task.completion;
    if (point_.workload == "core_clock") return params_.clock;
    throw Unsupported{""};
  }

  using PointWords::unread;

 private:
  wse::TaskOutcome run(const wse::TaskProgram& program) const {
    return wse::simulate(params_.task_hardware(), program, options_);
  }
  /// A program of traces/programs, with these constants.
  wse::TaskOutcome run(const char* name, const Pairs& constants) const {
    return run(shipped_program(name, constants, params_).program);
  }
  /// What each more costs, between `few` and `many`.
  template <class Time>
  static double slope(std::uint32_t few, std::uint32_t many, const Time& time) {
    return (time(many) - time(few)) / (many - few);
  }
  double cycles(const char* name, const Pairs& constants) const {
    return static_cast<double>(run(name, constants).cycles);
  }
  /// The end of the last issue slot of a core.
  double end(const char* name, const Pairs& constants, std::size_t core) const {
    return static_cast<double>(run(name, constants).cores.at(core).end);
  }

  std::string element() const {
    const std::string& dtype = text("dtype");
    if (dtype == "bf16") return "fp16";  // equal to the cycle
    if (dtype != "fp16" && dtype != "fp32" && dtype != "int16") unknown("dtype");
    return dtype;
  }

  VectorProbe vector_probe() const {
    static const std::map<std::string, const char*> kinds = {
        {"copy", "copy"},
        {"strided_read", "copy"},
        {"fill", "fill"},
        {"write_constant", "fill"},
        {"fma", "fma"},
        {"fma_scalar_times_vector", "fma"},
        {"add", "add"},
        {"multiply", "add"},
        {"add_two_vectors", "add"},
        {"add_or_multiply_two_vectors", "add"}};
    const auto found = kinds.find(text("operation"));
    if (found == kinds.end()) unknown("operation");
    VectorProbe probe{found->second, element()};
    if (has("stride")) probe.stride = number("stride");
    return probe;
  }
  double vector_cycles(const VectorProbe& probe, std::uint32_t length) const {
    return cycles("vector", {{"kind", probe.kind},
                             {"type", probe.type},
                             {"length", text_of(length)},
                             {"stride", text_of(probe.stride)},
                             {"offset", text_of(probe.offset)}});
  }
  double line_cycles(std::uint32_t words, std::uint32_t receivers) const {
    return cycles("line", hops_of(words, receivers));
  }
  /// To the last receiver alone, which takes no stamp.
  static Pairs hops_of(std::uint32_t words, std::uint32_t receivers) {
    return {{"words", text_of(words)},
            {"receivers", text_of(receivers)},
            {"last_only", "1"},
            {"stamps", "0"}};
  }
  /// Cycles of an element, between two lengths.
  double slope(const VectorProbe& probe) const {
    return slope(kShort, kLong, [&](std::uint32_t n) { return vector_cycles(probe, n); });
  }

  double vector_operation() const {
    const VectorProbe probe = vector_probe();
    if (point_.metric == "setup") {
      return vector_cycles(probe, kLong) - slope(probe) * kLong;
    }
    require({"rate"});
    if (!has("length")) return 1 / slope(probe);
    const std::uint32_t length = number("length");
    return length / vector_cycles(probe, length);
  }

  /// The slow class of offsets between the two operands of a multiply-accumulate over the others,
  /// at stride 1; the largest of strides 1 to 6.
  double bank_conflict() const {
    VectorProbe probe{"fma", element()};
    const auto ratio = [&](std::uint32_t stride) {
      std::vector<double> classes;
      for (std::uint32_t offset = 0; offset < 16; offset += 4) {
        probe.stride = stride;
        probe.offset = offset;
        classes.push_back(
            slope(256, 1024, [&](std::uint32_t n) { return vector_cycles(probe, n); }));
      }
      const auto [least, most] = std::minmax_element(classes.begin(), classes.end());
      return *most / *least;
    };
    if (point_.metric == "slowdown_of_the_slow_class") return ratio(1);
    require({"largest_slowdown"});
    double largest = 0;
    for (std::uint32_t stride = 1; stride <= 6; ++stride)
      largest = std::max(largest, ratio(stride));
    return largest;
  }

  double hop() const {
    require({"latency"});
    if (has("direction") && text("direction") == "west" && span("hops").first > 32) {
      throw Unsupported{"westward beyond 32 hops: unexplained, and not modelled"};
    }
    constexpr std::uint32_t kHops = 32;
    const std::uint32_t words = has("payload") ? span("payload").first : 1;
    return slope(1, kHops, [&](std::uint32_t hops) { return line_cycles(words, hops); });
  }

  double link() const {
    const auto [least, most] = span("words");
    const std::uint32_t longest = std::min(std::max(most, least + 4096), least + 65536);
    const double cost =
        slope(least, longest, [&](std::uint32_t words) { return line_cycles(words, 1); });
    if (point_.metric == "cost") return cost;
    require({"throughput"});
    return 1 / cost;
  }

  double multicast() const {
    if (point_.metric == "last_receiver_median") {
      throw Unsupported{
          "the median of two modes, of which the later (completion tasks 49 cycles late) is not "
          "explained; the shortest is compared"};
    }
    require({"last_receiver_shortest"});
    const std::uint32_t receivers = number("receivers");
    double time =
        cycles("line", {{"words", text_of(number("words"))}, {"receivers", text_of(receivers)}});
    if (has("timer_correction")) {
      if (text("timer_correction") != "1_cycle_per_hop") unknown("timer_correction");
      time -= params_.timer.sync_hop * number("hops_to_last");
    }
    return time;
  }

  double word_task() const {
    require({"cost"});
    const std::string& what = text("work");
    const char* kind = "store";
    if (what == "receive_and_send_one_word") {
      kind = "relay";
    } else if (what == "receive_check_and_forward") {
      kind = "forward";
    } else if (what != "receive_and_store" && what != "receive_check_and_count") {
      unknown("work");
    }
    return slope(64, 256, [&](std::uint32_t words) {
      return cycles("word_tasks", {{"kind", kind}, {"words", text_of(words)}});
    });
  }

  double send_loop() const {
    require({"cost"});
    if (text("form") != "synchronous_move_in_a_software_loop") unknown("form");
    return slope(64, 256, [&](std::uint32_t words) {
      return cycles("send_loop", {{"words", text_of(words)}});
    });
  }

  double store_and_forward() const {
    if (has("form") && text("form") != "bulk_receive_then_bulk_send") unknown("form");
    const auto time = [&](std::uint32_t stages, std::uint32_t words) {
      return cycles("store_and_forward", {{"stages", text_of(stages)}, {"words", text_of(words)}});
    };
    if (point_.workload == "store_and_forward_chain") {
      require({"cycles"});
      return time(number("stages"), number("words"));
    }
    const auto [few, many] = span("stages");
    const auto [least, most] = span("words");
    if (few == many || least == most) unknown("stages");
    const double stages = many - few;
    const double small = (time(many, least) - time(few, least)) / stages;
    const double large = (time(many, most) - time(few, most)) / stages;
    const double cost = (large - small) / (most - least);
    if (point_.metric == "cost") return cost;
    require({"overhead"});
    return small - cost * least;
  }

  /// Cycles there and back.
  double park(std::uint32_t words) const {
    const std::uint32_t cores = number("compute_cores");
    bool bulk = false;
    if (text("receive") == "bulk_at_owner") {
      bulk = true;
    } else if (text("receive") != "data_task_per_word") {
      unknown("receive");
    }
    if (has("storage_rows") && number("storage_rows") != 1) unknown("storage_rows");
    if (has("distance") && number("distance") != 1) unknown("distance");
    const Pairs sides{{"cores", text_of(cores)}, {"words", text_of(words)}};
    Pairs back = sides;
    back.emplace_back("bulk", text_of(bulk ? 1 : 0));
    return cycles("park", sides) + cycles("reload", back);
  }

  double park_and_reload() const {
    if (point_.workload == "column_park_and_reload") {
      require({"cycles"});
      return park(number("words_per_core"));
    }
    require({"cost_of_a_word_both_ways"});
    return (park(32) - park(16)) / (16.0 * number("compute_cores"));
  }

  /// Two levels of chains and a broadcast, until the first core has the sum.
  double all_reduce() const {
    require({"cycles"});
    constexpr std::uint32_t kFew = 4;
    const std::uint32_t cores = number("cores");
    const std::uint32_t groups = number("groups", wse::LineSums::groups_of(params_.llm, cores));
    if (groups > cores) unknown("groups");
    const wse::LineSums line(cores, groups, 0);
    const wse::TaskOutcome outcome = run(wse::plan_line_sum(line, kFew, costs_, params_.llm));
    return static_cast<double>(outcome.stamps.at(0).at(0));
  }

  /// From the dispatch of a send to its first word on the link: when a receive that waits in the
  /// next core takes it, less a hop and the way down the ramp.
  double first_word() const {
    require({"dispatch_to_first_word_on_the_link"});
    const double taken = end("line", hops_of(1, 1), 1) - 1;
    const double dispatch = costs_.setup(2) - params_.vec.setup_first;
    return taken - dispatch - params_.router.hop - params_.router.ramp - params_.router.ramp_in;
  }

  double overlap() const {
    require({"both"});
    return cycles("overlap", {{"vector", text_of(number("vector_alone"))},
                              {"scalar", text_of(number("scalar_alone"))}});
  }

  double to_register() const {
    const bool moves = point_.workload == "vector_to_scalar_register";
    const double cost = slope({moves ? "to_register" : "sum", element()});
    return point_.metric == "rate" ? 1 / cost : cost;
  }

  double branch() const {
    require({"to_next_dispatch"});
    if (text("taken") == "yes") return params_.scalar.branch_taken;
    if (text("taken") == "no") return params_.scalar.branch_not;
    unknown("taken");
  }

  double fma_4096() const {
    require({"cycles"});
    if (text("form") != "one_instruction") unknown("form");
    return vector_cycles({"fma", element()}, 4096);
  }

  double core_memory() const {
    if (point_.metric == "size") return params_.mem.kib * 1024.0;
    throw Unsupported{"code of a library of the vendor's"};
  }

  double tiled_stencil() const {
    require({"cycles_per_iteration"});
    if (element() != "fp32") unknown("dtype");
    const std::uint32_t radius = number("radius");
    const auto tile = sides("tile");
    const bool first_version = has("program");
    if (first_version && text("program") != "general_with_copy") unknown("program");
    // the published program of radius 1 computes tiles of 4 x 4 on without its neighbours on a
    // WSE-3
    const bool waits = params_.target == Target::none || radius != 1 || first_version ||
                       std::min(tile.first, tile.second) < 4;
    const auto around = 2UL * radius;
    if (8 * (tile.second + around) * (tile.first + around + 1) > params_.core_bytes()) {
      throw Unsupported{"the two arrays do not fit a core"};
    }
    const auto time = [&](std::uint32_t iterations) {
      return end("tiled_stencil",
                 {{"radius", text_of(radius)},
                  {"width", text_of(tile.first)},
                  {"height", text_of(tile.second)},
                  {"iterations", text_of(iterations)},
                  {"waits", text_of(waits ? 1 : 0)},
                  {"first_version", text_of(first_version ? 1 : 0)}},
                 4);
    };
    return slope(2, 4, time);
  }

  /// How the program is arranged and which iterations are timed, where the source does not say; a
  /// point may say it (`scripts/stencil_halves.py` does).
  Pairs point_arrangement() const {
    Pairs of{{"pairs", text_of(params_.target == Target::none ? 1 : 0)},
             // by default the word is at the router
             {"send", text_of(number("send", 1 + params_.router.ramp))}};
    if (has("loop")) {
      if (text("loop") != "within" && text("loop") != "last") unknown("loop");
      of.emplace_back("within", text_of(text("loop") == "within" ? 1 : 0));
    }
    if (!has("order")) return of;
    const std::string sides = "udlr";
    const std::array<const char*, 4> names = {"up", "down", "left", "right"};
    const std::array<const char*, 4> places = {"first", "second", "third", "fourth"};
    const std::string& order = text("order");
    if (!std::is_permutation(order.begin(), order.end(), sides.begin(), sides.end())) {
      unknown("order");
    }
    for (std::size_t i = 0; i < sides.size(); ++i) {
      of.emplace_back(places.at(i), names.at(sides.find(order[i])));
    }
    return of;
  }

  double point_stencil() const {
    require({"cycles_per_iteration"});
    if (element() != "fp32") unknown("dtype");
    const auto [given_columns, given_rows] = sides("grid");
    const auto [first, last] =
        has("timed") ? span("timed") : std::pair{2U, 4U};  // as the tiled ones
    if (first >= last) unknown("timed");
    // four iterations feel cores four away, so those far from the frame are alike: not all are run
    const auto side = [](unsigned all) { return all > 60 ? 50 + all % 10 : all; };
    const std::uint32_t columns = side(given_columns);
    const std::uint32_t rows = side(given_rows);
    if (columns < 3 || rows < 3) throw Unsupported{"no core lies within the frame"};
    const Pairs arranged = point_arrangement();
    // whose time was taken is not known: the mean of the cores within
    const std::string core = has("core") ? text("core") : "mean";
    if (core != "mean" && core != "middle" && core != "slowest") unknown("core");
    const auto time = [&](std::uint32_t iterations) {
      Pairs constants = arranged;
      constants.insert(constants.end(), {{"wide", text_of(columns)},
                                         {"high", text_of(rows)},
                                         {"iterations", text_of(iterations)}});
      const wse::TaskOutcome ran = run("point_stencil", constants);
      const auto end = [&](std::size_t r, std::size_t c) {
        return static_cast<double>(ran.cores.at(r * columns + c).end);
      };
      if (core == "middle") return end(rows / 2, columns / 2);
      double sum = 0;
      double most = 0;
      for (std::size_t r = 1; r + 1 < rows; ++r) {
        for (std::size_t c = 1; c + 1 < columns; ++c) {
          sum += end(r, c);
          most = std::max(most, end(r, c));
        }
      }
      return core == "slowest" ? most : sum / ((rows - 2.0) * (columns - 2.0));
    };
    return (time(last) - time(first)) / (last - first);
  }

  const ValidationPoint& point_;
  const WseParams& params_;
  const wse::CodeCosts costs_;
  wse::RunOptions options_;
};

/// Why nothing is run for workloads that are probes too.
std::string reason_of(const std::string& workload) {
  static const std::map<std::string, std::string> reasons = {
      {"router_turn", "a fitted coefficient of whole routes: no cost of a turn is modelled"},
      {"link_contention", "the error of a formula of the authors, not a time"},
      {"decode_to_execute", "scalar code is counted in issue slots, not in stages of a pipeline"},
      {"transit_of_a_forwarded_word", "what lies on the way of the word is not published"},
      {"send_to_receive_task", "what lies on the way of the word is not published"},
      {"mlp_fp8", "the program of controller and quantisers is not published"}};
  const auto found = reasons.find(workload);
  return found == reasons.end() ? "" : found->second;
}

struct ProbeSystem {
  const char* word;
  const char* preset;
  std::vector<std::pair<const char*, const char*>> settings;
};

/// The stencils show the banks of the simulated WSE-2 to repeat after 16 bytes for words of 32 bits
/// (doc/model/wafer_core.md); the preset keeps the vendor's 8.
const ProbeSystem* system_of(const ValidationPoint& point) {
  static const std::vector<ProbeSystem> systems = {
      {"CS-3", "wse3", {{"target", "silicon"}}},
      {"WSE3-sim", "wse3", {{"target", "simfabric"}}},
      {"WSE3-compiled", "wse3", {{"target", "simfabric"}}},
      {"CS-2", "wse2", {}},
      {"WSE2-sim", "wse2", {}}};
  for (const ProbeSystem& system : systems) {
    if (point.system == system.word) return &system;
  }
  return nullptr;
}

bool is_stencil(const ValidationPoint& point) { return starts_with(point.workload, "stencil_"); }

}  // namespace

void simulate_wafer_probes(const ValidationPoints& points, const MachineTable& table,
                           const ValidationRunSettings& run, Outcomes& outcomes) {
  simulate_points(points, outcomes, [&](const ValidationPoint& point, ValidationOutcome& outcome) {
    const ProbeSystem* const system = system_of(point);
    if (system == nullptr) return std::optional<double>();
    const std::string reason = reason_of(point.workload);
    if (!reason.empty()) throw Unsupported{reason};
    const auto machines = make_machines(table, {system->preset}, run.settings);
    Machine& machine = *machines.at(0);
    for (const auto& [path, text] : system->settings) machine.set(path, text, "the point");
    if (is_stencil(point) && std::string(system->preset) == "wse2") {
      machine.set("mem.conflict_bytes", "16", "the point");
    }
    machine.check();
    // NOLINTNEXTLINE(*-static-cast-downcast): of a wafer; the base has nothing virtual
    const auto& params = static_cast<const WseParams&>(machine.parameters());
    const Probe probe(point, params, run.execution.engine);
    const double value = probe.value();
    outcome.unread = probe.unread();
    return std::optional(value);
  });
}

}  // namespace lacuna
