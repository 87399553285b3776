// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/wafer.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/base/texts.hpp"
#include "sim/driver/validate/point_words.hpp"

namespace lacuna {

namespace {

/// Cycles between the time stamps of the published products that no loop accounts for: one number
/// for grids of many cores, one for 2 x 2. Derived from the intercepts of the shared rows.
constexpr const char* kProtocolOfGrids = "1593";
constexpr const char* kProtocolOfFour = "88";

/// Sides of the square that a matrix-vector product is tried on, because none is stated.
constexpr std::array<std::uint32_t, 8> kSquares = {128, 256, 384, 512, 600, 660, 720, 750};

/// Products that follow each other without a barrier: the mean of 100 is published, which no longer
/// differs from that of so many by half a percent.
constexpr int kBackToBack = 4;

struct SystemRule {
  const char* word;
  const char* machine;
};
constexpr std::array<SystemRule, 8> kSystems = {{{"CS-1", "wse1"},
                                                 {"CS-2", "wse2"},
                                                 {"CS-3", "wse3"},
                                                 {"WSE2-sim", "wse2"},
                                                 {"WSE2-model", "wse2"},
                                                 {"WSE2-vendor", "wse2"},
                                                 {"WSE3-sim", "wse3"},
                                                 {"WSE3-compiled", "wse3"}}};

class Recipes : private PointWords {
 public:
  using PointWords::unread;

  Recipes(const ValidationPoint& point, std::string machine)
      : PointWords(point), point_(point), machine_(std::move(machine)) {}

  std::vector<ValidationRun> runs() {
    const std::string& workload = point_.workload;
    if (starts_with(workload, "spmm_local_compute")) return {spmm()};
    if (workload == "vector_multiply_isolated") return {vector_product()};
    if (workload == "mesh_gemv") return gemv();
    for (const char* const kind : {"broadcast", "allreduce", "reduce"}) {
      if (starts_with(workload, kind)) return {collective(kind)};
    }
    throw Unsupported{"no measurement of a kernel: a bound, a data sheet or a count"};
  }

 private:
  ValidationRun on(std::uint32_t columns, std::uint32_t rows) const {
    ValidationRun run;
    run.machine = machine_;
    run.settings = {fmt::format("wafer.columns={}", columns), fmt::format("wafer.rows={}", rows)};
    if (point_.system == "WSE3-sim") run.settings.emplace_back("target=simfabric");
    return run;
  }

  /// The element of the programs that are compared with; a point may leave it out.
  void require_element(const char* dtype) const {
    if (has("dtype") && text("dtype") != dtype) unknown("dtype");
  }

  static void keep(LayerOp& op, const Decimal& density) {
    if (density.value() >= 1) return;
    op.pattern.name = "unstructured";
    op.pattern.block_rows = op.pattern.block_cols = 1;
    op.pattern.density = density;
  }

  /// Mean over a grid with a random mask; the largest count of any core is published, so the
  /// longest time is that of one core with so many; formats that pad give all cores the same.
  ValidationRun spmm() const {
    const std::string& metric = point_.metric;
    const std::string& format = text("format");
    const std::uint32_t rows = number("tile_rows");
    const std::uint32_t columns = number("tile_cols");
    const bool dense = format == "dense" || format == "gemm";
    const bool padded = dense || format == "coo" || format == "ellpack" || format == "ell";
    const bool one = padded || metric == "max_cycles_per_pe";
    if (metric == "min_cycles_per_pe" && !padded) {
      throw Unsupported{"the masks are random and not published: the least core is not determined"};
    }
    if (text("dtype") != "fp32") throw Unsupported{"the software-driven product is fp32"};
    ValidationRun run = one ? on(1, 1) : on(number("grid_x"), number("grid_y"));
    LayerOp& op = run.op;
    op.op = "spmm";
    op.mode = Mode::dynamic;
    op.dtype = DType::fp32;
    op.m = one ? rows : number("N");
    op.k = one ? columns : number("K");
    op.n = number("M");
    if (format == "ell" || format == "ellpack") {
      op.k = (number("nnz_per_pe_padded") + rows - 1) / rows;  // slots, all of them used
    } else if (one && !dense) {
      const std::uint64_t size = std::uint64_t{op.m} * op.k;
      keep(op, {(number("nnz_per_pe_padded") * 1'000'000'000ULL + size - 1) / size, 9});
    } else if (!one) {
      Decimal density;
      if (parse_fraction(text("density"), density) != DecimalError::none) {
        throw Unsupported{fmt::format("density '{}'", text("density"))};
      }
      keep(op, density);
    }
    const bool four = number("grid_x") * number("grid_y") <= 4;
    const bool conflict = has("alignment") && text("alignment") == "conflicting";
    run.settings.emplace_back("kernel.spmm_phases=local");
    run.settings.push_back("kernel.spmm_format=" + (dense             ? "dense"
                                                    : format == "ell" ? "ellpack"
                                                                      : format));
    run.settings.push_back(std::string("kernel.protocol_cycles=") +
                           (four ? kProtocolOfFour : kProtocolOfGrids));
    run.settings.push_back(std::string("map.align=") + (conflict ? "bad" : "good"));
    run.statistic = metric == "mean_cycles_per_pe" ? "core_cycles_mean" : "core_cycles_longest";
    return run;
  }

  ValidationRun vector_product() const {
    if (text("op") != "fp32_mul_vector_vector") {
      throw Unsupported{fmt::format("operation '{}'", text("op"))};
    }
    ValidationRun run = on(1, 1);
    run.op.op = "mul";
    run.op.dtype = DType::fp32;
    run.op.m = number("length");
    run.op.n = 1;
    const bool conflict = text("alignment") == "conflicting";
    run.settings.push_back(std::string("map.align=") + (conflict ? "bad" : "good"));
    run.statistic = "core_cycles_longest";
    return run;
  }

  std::vector<ValidationRun> gemv() const {
    require_element("fp16");
    // the authors convert their cycles with 1.1
    const std::string clock = has("clock_ghz") ? (rate("clock_ghz"), text("clock_ghz")) : "1.1";
    std::vector<std::pair<std::uint32_t, std::uint32_t>> grids;
    if (has("grid") && text("grid").rfind("square", 0) != 0) {
      grids.push_back(sides("grid"));
    } else {
      for (const std::uint32_t side : kSquares) grids.emplace_back(side, side);
    }
    std::vector<ValidationRun> runs;
    for (const auto& [columns, rows] : grids) {
      ValidationRun run = on(columns, rows);
      run.clock = clock;
      run.op.op = "gemv";
      run.op.m = number("n");
      run.op.k = number("k");
      run.settings.push_back(fmt::format("kernel.gemv_repeats={}", kBackToBack));
      run.statistic = "cycles_each";
      runs.push_back(run);
    }
    return runs;
  }

  /// "reduce_two_phase_1d", "allreduce_chain_broadcast_1d", ...
  ValidationRun collective(const std::string& kind) const {
    std::string fn = point_.workload.substr(kind.size());
    for (const char* const ending : {"_1d", "_2d", "_broadcast"}) {
      if (ends_with(fn, ending)) fn.erase(fn.size() - std::string_view(ending).size());
    }
    if (!fn.empty()) fn.erase(0, 1);
    require_element("fp32");
    const bool plane = has("M") && has("N");
    const std::uint32_t columns = plane ? number("M") : number("P");
    const std::uint32_t rows = plane ? number("N") : 1;
    ValidationRun run = on(columns, rows);
    run.op.op = kind;
    run.op.fn = kind == "broadcast" ? "tree" : fn.empty() ? "auto" : fn;
    run.op.dtype = DType::fp32;
    run.op.m = number("B");
    run.op.n = 1;
    run.op.args = {{"ranks", fmt::format("{}", columns * rows)}, {"rows", fmt::format("{}", rows)}};
    if (has("T_R")) run.settings.push_back("router.ramp=" + text("T_R"));
    return run;
  }

  const ValidationPoint& point_;
  const std::string machine_;
};

}  // namespace

std::optional<WaferRecipe> wafer_recipe(const ValidationPoint& point) {
  if (point.parameters.empty()) return std::nullopt;
  for (const SystemRule& system : kSystems) {
    if (point.system != system.word) continue;
    WaferRecipe recipe;
    recipe.family = fmt::format("{} {} {}", system.machine, point.workload, point.metric);
    try {
      Recipes recipes(point, system.machine);
      recipe.runs = recipes.runs();
      recipe.unread = recipes.unread();
    } catch (const Unsupported& unsupported) {
      recipe.unsupported = unsupported.reason;
    }
    return recipe;
  }
  return std::nullopt;
}

}  // namespace lacuna
