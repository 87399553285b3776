// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/random_streams.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/draw.hpp"
#include "tests/support/wse/first_gradient.hpp"
#include "tests/support/wse/random_hardware.hpp"
#include "tests/support/wse/streaming_bench.hpp"
#include "workloads/mapping/wse/gradient.hpp"
#include "workloads/mapping/wse/group_use.hpp"
#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {
namespace {

/// Two words of a beat need room for two.
std::string draw_queues(Draw& draw, std::uint32_t queues, std::uint32_t least) {
  std::string list;
  for (std::uint32_t i = 0; i < queues; ++i) {
    list += (i == 0 ? "" : ",") + std::to_string(draw.pick(least, 8));
  }
  return list;
}

HardwareParams random_stream_hardware(Draw& draw) {
  HardwareParams params;
  draw_parameters(params.core, draw);
  draw_parameters(params.router, draw);
  params.router.link_cycles =
      std::max(params.router.link_cycles.value(), params.router.link_words.value());
  params.router.link_limit = LinkLimit::link;  // of ramps the oracle of streams does not know
  const std::uint32_t least = params.core.fabric_words_per_issue == 2U ? 2 : draw.pick(1, 2);
  params.queue.in = draw_queues(draw, 8, least);
  params.queue.out = draw_queues(draw, 6, std::max(least, 2U));
  if (draw.chance(40)) return params;
  // What the faster ways of `event` take.
  params.router.multicast = Multicast::independent;
  params.router.entries = std::max(2U, params.router.entries.value());
  if (draw.chance(70)) params.router.arbiter = Arbiter::round_robin;
  return params;
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : draw_(seed ^ 0x7000), draw_filter_(seed ^ 0x9000) {}

  StreamCase make() {
    made_.params = random_stream_hardware(draw_);
    columns_ = draw_.chance(10) ? 1 : draw_.chance(15) ? draw_.pick(8, 18) : draw_.pick(2, 7);
    const std::uint32_t rows = draw_.pick(1, columns_ > 7 ? 4 : 8);
    // A row at the west edge brings words to as many columns as there are colors beside those of
    // the reduction.
    const std::uint32_t edge = draw_.chance(15) ? draw_.pick(columns_ > 12 ? 2 : 1, 3) : 0;
    shape(rows);
    weights();
    Program& program = made_.program;
    StreamingKernel& kernel = program.kernel;
    if (edge != 0) {
      program.distribution_rows = program.entry = edge;
      kernel.tokens.insert(kernel.tokens.begin(), edge, 0);
    } else if (rows > 1 && draw_.chance(25)) {
      program.entry = draw_.pick(1, rows - 1);
    }
    draw_rate();
    route_streaming(program, columns_, reduction());
    numbers();
    filter();
    if (edge == 0 && program.entry == 0 && program.column_fifo == 0 && draw_.chance(15)) beside();
    if (program.column_fifo == 0 && draw_.chance(25)) {
      program.scan_cycles = random_scan(draw_.pick(1, 1000), program);
    }
    return std::move(made_);
  }

  /// Columns in groups, as their parameters have it and as far as colors and queues go.
  StreamCase make_grouped() {
    made_.params = random_stream_hardware(draw_);
    StreamingSetup setup;
    GroupUse use;
    const StreamCase empty = made_;
    for (bool fits = false; !fits;) {
      made_.program = empty.program;
      const std::uint32_t groups = draw_.pick(2, 4);
      columns_ = groups * (draw_.chance(15) ? draw_.pick(5, 9) : draw_.pick(1, 4));
      draw_parameters(setup.ws, draw_);
      setup.ws.set("groups", std::to_string(groups));
      // the oracle has none; Idealised compares the engines
      if (setup.ws.reduce == Reduce::idealised) setup.ws.set("reduce", "ring");
      setup.ws.set("buses", std::to_string(draw_.pick(1, 3)));
      setup.io.dist_rows = draw_.pick(0, 3);
      setup.wafer.columns = columns_;
      setup.queue = made_.params.queue;
      setup.queue.in = draw_queues(draw_, 12, 2);
      const std::uint32_t rows = draw_.pick(1, columns_ > 7 ? 4 : 7);
      try {
        use = use_groups(setup.wafer, setup.ws, draw_.chance(30));
        Program& program = made_.program;
        shape(rows);
        program.distribution_rows = program.entry = distribution_rows(setup.ws, setup.io, use);
        program.source = stream_sources(setup.ws, use);
        program.from_north = setup.ws.inject == Inject::column_top;
        if (program.distribution_rows == 0 && setup.ws.inject == Inject::middle_row) {
          program.entry = rows / 2;
        }
        program.kernel.tokens.insert(program.kernel.tokens.begin(), program.distribution_rows, 0);
        program.kernel.groups = use.groups;
        group_weights(use);
        program.kernel.exchange.send_cycles = draw_.pick(1, 2);
        program.kernel.exchange.take_cycles = draw_.pick(1, 2);
        Reduction way = plan_sums(setup, use, program.kernel);
        draw_rate();
        route_streaming(program, columns_, std::move(way));
        fits = true;
      } catch (const UnsupportedError&) {  // other ones
      }
    }
    made_.params.queue.in = setup.queue.in.value();
    numbers();
    filter();
    return std::move(made_);
  }

 private:
  void draw_rate() {
    Program& program = made_.program;
    if (draw_.chance(70)) program.rate = {draw_.pick(3, 10 * columns_), draw_.pick(5, 20)};
    if (draw_.chance(25)) program.column_fifo = draw_.pick(1, 6);
  }

  /// Where zeros are left out, in every other case one of the places that there are.
  void filter() {
    ZeroFilterParams params;
    if (draw_filter_.chance(50)) draw_parameters(params, draw_filter_);
    switch (params.at.value()) {
      case FilterAt::sender:  // which sends none
        break;
      case FilterAt::receiver:
        filter_at_receivers(random_zeros(draw_filter_.pick(1, 1000), made_.program), made_.program);
        break;
    }
  }

  /// Groups that share elements have the same rows.
  void group_weights(const GroupUse& use) {
    StreamingKernel& kernel = made_.program.kernel;
    const ColumnGroups& groups = use.groups;
    kernel.steps = draw_.pick(1, 10);
    const std::uint32_t most = draw_.pick(0, 8);
    for (std::uint32_t step = 0; step < kernel.steps; ++step) {
      std::uint32_t keeper = draw_.pick(0, groups.width - 1);
      std::vector<std::uint32_t> counts(columns_);
      for (std::uint32_t g = 0; g < groups.count; ++g) {
        kernel.final_column.push_back(groups.column_of(g, keeper));
        if (!use.share_elements) keeper = draw_.pick(0, groups.width - 1);
        for (std::uint32_t place = 0; place < groups.width; ++place) {
          const bool same = use.share_elements && g != 0;
          counts[groups.column_of(g, place)] =
              same ? counts[groups.column_of(0, place)] : draw_.pick(0, most);
        }
      }
      kernel.counts.insert(kernel.counts.end(), counts.begin(), counts.end());
    }
  }

  void shape(std::uint32_t rows) {
    StreamingKernel& kernel = made_.program.kernel;
    const std::uint32_t tokens = draw_.pick(1, draw_.chance(70) ? 12 : 50);
    for (std::uint32_t r = 0; r < rows; ++r) {
      const bool same = r == 0 || draw_.chance(70);
      kernel.tokens.push_back(same ? (r == 0 ? tokens : kernel.tokens.back()) : draw_.pick(1, 30));
    }
    kernel.lookahead = draw_.pick(1, 6);
    kernel.simd = draw_.pick(1, 9);
    kernel.form = static_cast<StreamForm>(draw_.pick(0, 3));
    kernel.int8 = kernel.form == StreamForm::packed && draw_.chance(40);
    kernel.fp32 = kernel.form == StreamForm::wide || kernel.form == StreamForm::plain;
    kernel.psum_fp32 = kernel.int8 || kernel.fp32 || draw_.chance(50);
    kernel.ring_fp32 = kernel.int8 || kernel.fp32 || draw_.chance(40);
    kernel.ring_elements = kernel.ring_fp32 ? 1 : 2;
    if (draw_.chance(40)) {
      kernel.first_beats = beats();
      kernel.beats_that_add = beats();
      kernel.reduce_cycles = draw_.pick(1, 3);
      kernel.gather_cycles = draw_.pick(1, 3);
    }
    if (draw_.chance(40)) kernel.stalls = draw_.pick(1, 8);
  }

  /// By their bytes, of which a share takes the port twice, or all alike.
  BeatTime beats() {
    BeatTime time;
    time.least = draw_.pick(1, 3);
    if (draw_.chance(30)) return time;
    time.ports.model = MemoryModel::rule;
    time.ports.read_bits = 16 * draw_.pick(1, 8);
    time.ports.write_bits = 16 * draw_.pick(1, 8);
    time.ports.port_cycles = draw_.chance(80) ? 1 : 2;
    if (draw_.chance(60)) time.ports.write_share = 100 * draw_.pick(0, 30);
    time.read = 8 * draw_.pick(1, 8);
    time.written = 8 * draw_.pick(0, 4);
    return time;
  }

  void weights() {
    StreamingKernel& kernel = made_.program.kernel;
    kernel.steps = draw_.pick(1, 12);
    const std::uint32_t most = draw_.pick(0, 8);
    const std::uint32_t empty = draw_.pick(0, columns_);  // a column without; the last: none
    for (std::uint32_t step = 0; step < kernel.steps; ++step) {
      kernel.final_column.push_back(draw_.pick(0, columns_ - 1));
      const bool none = draw_.chance(15);
      for (std::uint32_t c = 0; c < columns_; ++c) {
        kernel.counts.push_back(none || c == empty ? 0 : draw_.pick(0, most));
      }
    }
  }

  Reduction reduction() {
    if (columns_ == 1) return {};
    StreamingParams ws;
    draw_parameters(ws, draw_);
    switch (ws.reduce.value()) {
      case Reduce::ring:
      case Reduce::idealised:
        return {};
      case Reduce::chain:
      case Reduce::tree:
      case Reduce::two_phase:
        break;
    }
    return plan_reduction(ws.reduce, columns_, draw_.pick(4, 8));
  }

  /// Payloads and activations, or how much a core holds of each feature, or neither.
  void numbers() {
    StreamingKernel& kernel = made_.program.kernel;
    const bool indexed = kernel.form == StreamForm::indexed;
    const std::uint32_t way = draw_.pick(0, 2);
    const std::size_t cores = kernel.tokens.size() * columns_;
    const std::uint32_t features = kernel.has_index() ? draw_.pick(1, 12) : 16;
    if (way == 0 || (way == 1 && !indexed)) return;
    kernel.payloads.resize(columns_);
    const std::vector<std::uint32_t>& source = made_.program.source;
    for (std::uint32_t c = 0; c < columns_; ++c) {
      if (!source.empty() && source[c] != c) continue;
      for (std::uint32_t step = 0; step < kernel.steps; ++step) {
        for (std::uint32_t i = 0; i < kernel.words(step, c); ++i) {
          kernel.payloads[c].push_back(payload(i, features));
        }
      }
    }
    for (std::uint32_t c = 0; c < columns_ && !source.empty(); ++c) {
      kernel.payloads[c] = kernel.payloads[source[c]];
    }
    for (std::size_t core = 0; core < cores; ++core) {
      if (way == 1) {
        std::vector<std::uint16_t> held;
        for (std::uint32_t j = 0; j < features; ++j) {
          held.push_back(static_cast<std::uint16_t>(draw_.pick(0, 5)));
        }
        kernel.held.push_back(held);
        kernel.beats_that_add.ports = {};  // an element takes a beat, without residual stalls
        kernel.stalls = 0;
        continue;
      }
      std::vector<float> x(std::size_t{features} * kernel.tokens[core / columns_]);
      for (float& value : x) value = static_cast<float>(draw_.pick(0, 8)) - 4;
      kernel.activations.push_back(x);
    }
  }

  /// A word of small numbers.
  std::uint32_t payload(std::uint32_t i, std::uint32_t features) {
    const StreamingKernel& kernel = made_.program.kernel;
    const std::uint32_t index = draw_.pick(0, features - 1);
    const auto value = static_cast<float>(draw_.pick(0, 6)) - 3;
    switch (kernel.form) {
      case StreamForm::indexed:
        return index << 16U | to_half(value);
      case StreamForm::packed:
        return kernel.int8 ? draw_.pick(0, 3) * 0x01020301U
                           : std::uint32_t{to_half(value)} << 16U | to_half(value + 1);
      case StreamForm::wide:
        return i % 2 == 0 ? index : detail::bits_of(value);
      case StreamForm::plain:
        return detail::bits_of(value);
    }
    return 0;
  }

  /// Words of another color run down each column and leave it.
  void beside() {
    Program& program = made_.program;
    constexpr Color kOther{23};
    for (RouterProgram& router : program.routers) {
      router.routes.push_back({kOther, kNorth, bit(kSouth)});
    }
    for (std::uint32_t c = 0; c < columns_; ++c) {
      program.background.push_back({c, kOther, draw_.pick(1, 30)});
      program.outlets.push_back({program.rows - 1, c, kSouth, kOther});
    }
    program.collects = true;
    program.full_duplex = draw_.chance(50);
  }

  Draw draw_;
  Draw draw_filter_;
  StreamCase made_;
  std::uint32_t columns_ = 1;
};

std::string text_of(const BeatTime& time) {
  const MemoryPorts& ports = time.ports;
  return fmt::format("{}/{} of {}/{}, {} {}, {} at least", time.read, time.written, ports.read_bits,
                     ports.write_bits, ports.port_cycles, ports.write_share, time.least);
}

}  // namespace

StreamCase random_streams(std::uint64_t seed) {
  const bool grouped = seed % 3 == 0;
  return grouped ? Maker(seed).make_grouped() : Maker(seed).make();
}

StreamCase random_gradient(std::uint64_t seed) {
  Draw draw(seed ^ 0x3000);
  StreamCase made;
  made.params = random_stream_hardware(draw);
  StreamingSetup setup;
  for (ParameterSet* const set : std::initializer_list<ParameterSet*>{&setup.ws, &setup.map}) {
    draw_parameters(*set, draw);
  }
  if (draw.chance(60)) setup.map.align = Alignment::good;
  setup.core = made.params.core;
  setup.queue = made.params.queue;
  setup.ws.inject = Inject::column_top;  // the only way in that gradients have
  setup.ws.lookahead = draw.pick(1, 5);
  setup.ws.results = draw.pick(1, 5);
  setup.ws.groups = draw.chance(40) ? draw.pick(2, 4) : 1;
  if (setup.ws.share == Share::tokens) setup.ws.exchange = Exchange::product;
  setup.wafer.columns = setup.ws.groups * draw.pick(1, setup.ws.groups == 1U ? 7 : 4);
  setup.wafer.rows = draw.pick(setup.ws.groups == 1U ? 1 : 2, 7);  // one may copy
  setup.io.duplex = draw.chance(50) ? IoDuplex::half : IoDuplex::full;
  setup.io.stream = draw.chance(30) ? IoStream::row_ordered : IoStream::per_column;
  setup.io.column_fifo = draw.pick(1, 5);
  setup.io.share = 0.001 * draw.pick(1, 30);
  GradientJob job;
  job.m = draw.pick(1, 14);
  job.tokens = draw.pick(1, 40);
  job.n = draw.pick(1, 14);
  job.dtype = draw.chance(30) ? DType::fp32 : DType::fp16;
  job.seed = seed;
  job.values = draw.chance(30);
  Mask mask{job.m, job.n, 1, 1, {0}, {}};
  const std::uint32_t density = draw.pick(0, 100);
  for (std::uint32_t i = 0; i < job.m; ++i) {
    for (std::uint32_t j = 0; j < job.n; ++j) {
      if (draw.chance(density)) mask.columns.push_back(j);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  if (draw.chance(85)) job.mask = &mask;
  if (Draw(seed ^ 0x3100).chance(25)) {  // rows of these are folded
    made.params = HardwareParams();
    setup.core = made.params.core;
    setup.queue = made.params.queue;
    setup.map.align = Alignment::good;
    setup.ws.gradient = GradientSums::kept;
    setup.ws.copies = Copies::idealised;
    setup.wafer.columns = setup.wafer.columns + setup.ws.groups;  // a ring for each group
    setup.io.stream = IoStream::per_column;
    job.dtype = DType::fp16;
    job.values = false;
  }
  made.program = test::plan_gradient(job, setup).program;
  return made;
}

std::string print(const StreamCase& made) {
  const Program& p = made.program;
  const StreamingKernel& k = p.kernel;
  TaskParams shown;  // the parameters that both have
  shown.core = made.params.core;
  shown.queue = made.params.queue;
  shown.router = made.params.router;
  std::string text = fmt::format(
      "parameters:{}\n{} x {} cores, entry {}, edge rows {}, rate {}/{}, FIFO {}, beside {}, "
      "duplex "
      "{}\nsteps {} lookahead {} simd {} form {} int8 {} fp32 {}/{}/{} cycles {} {} {} {} stalls "
      "{} "
      "values {} zeros {} held {} groups {} interleaved {} copies {} buses {} colors "
      "{}\ntokens "
      "{}\nkept by {}\ncounts {}",
      changed_parameters(shown), p.columns, p.rows, p.entry, p.distribution_rows, p.rate.words,
      p.rate.per, p.column_fifo, p.background.size(), p.full_duplex, k.steps, k.lookahead, k.simd,
      static_cast<int>(k.form), k.int8, k.fp32, k.psum_fp32, k.ring_fp32, text_of(k.first_beats),
      text_of(k.beats_that_add), k.reduce_cycles, k.gather_cycles, k.stalls, !k.activations.empty(),
      !k.zeros.empty(), !k.held.empty(), k.groups.count, k.groups.interleaved, !p.source.empty(),
      k.exchange.buses.size(), k.group_colors, fmt::join(k.tokens, " "),
      fmt::join(k.final_column, " "), fmt::join(k.counts, " "));
  if (!p.gradient) return text;
  const GradientKernel& g = *p.gradient;
  return text + fmt::format("\ngradient: kept {} with the stream {} results {} cycles {} {}",
                            g.kept, g.begins_with_stream, g.results, g.dot_cycles, g.move_cycles);
}

}  // namespace lacuna::wse
