// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/base/random.hpp"
#include "tests/support/ipu/chip_bench.hpp"

namespace lacuna::ipu {
namespace {

// Each tile's memory: words that are sent, words that are received, words of its port.
constexpr std::uint32_t kRegion = 600;

/// Builds one random program. Vertices fold what was received into what is sent next, so that a
/// word that came late, early or not at all shows in the end.
class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, const std::string& path, const std::string& value)
      : random_(seed), seed_(seed), params_(params()) {
    if (!path.empty()) params_.set(path, value);
  }

  Scenario make() {
    ProgramBuilder builder(params_);
    make_codelets(builder);
    for (unsigned i = 0; i < 1 + draw(5); ++i) add_vertex(builder);
    const unsigned supersteps = 1 + draw(4);
    for (unsigned i = 0; i < supersteps; ++i) {
      const std::uint32_t compute = draw(5) == 0 ? kNone : add_compute(builder);
      builder.superstep(compute, draw(4) == 0 ? kNone : add_exchange(builder));
    }
    add_values(builder.program());
    builder.program().mac_algorithmic = std::uint64_t{1} << 40U;
    for (unsigned b = 0; b < 4 && seed_ % 2 == 1; ++b)
      builder.program().conflicts.push_back(draw(3));
    const double stalls = draw(2) * 0.4;
    const unsigned slack = draw(2) * 3U;
    return {params_, builder.take(), stalls, slack, seed_};
  }

 private:
  // No two draws are arguments of one call: their order would be the compiler's.
  unsigned draw(unsigned n) { return static_cast<unsigned>(random_.bounded(n)); }

  ChipParams params() {
    ChipParams params;
    params.ipu.tiles = 1 + draw(9);
    params.tile.workers = 1 + draw(8);
    params.tile.launch = draw(15);
    params.sync.cycles = 2 + draw(60);
    params.exchange.control_events = draw(5);
    params.exchange.paired_words = 2 + draw(20);
    params.tile.memory.element.kib = 1U << draw(3);  // so that there are several
    params.tile.memory.element.plain_kib = draw(6);
    if (draw(3) == 0) {
      params.exchange.latency = LatencyModel::constant;
      params.exchange.constant_latency = 1 + draw(40);
    }
    return params;
  }

  void make_codelets(ProgramBuilder& builder) {
    for (unsigned b = 0; b < 4; ++b) {
      Bundle bundle("bundle");
      bundle.add(static_cast<Tally>(draw(kTallies)), 1);
      if (bundle.tallies.at(static_cast<std::size_t>(Tally::amp_mac_fp8)) > 0) bundle.tallies = {};
      builder.bundle(bundle);
    }
    for (unsigned c = 0; c < 3; ++c) worker_code_.push_back(builder.codelet(random_code(false)));
    for (unsigned c = 0; c < 3; ++c) supervisor_code_.push_back(builder.codelet(random_code(true)));
  }

  std::uint8_t some_argument() {
    return draw(2) == 0 ? Instr::kNoArgument : static_cast<std::uint8_t>(draw(3));
  }

  Instr random_issue(unsigned times, std::uint8_t argument) {
    const unsigned bundle = draw(4);
    return issue(bundle, static_cast<int>(draw(times)), argument);
  }

  /// Straight-line code with loops around parts of it, some nested, some empty.
  Codelet random_code(bool supervisor) {
    Codelet code;
    for (unsigned i = 0; i < 2 + draw(4); ++i) {
      const unsigned inner = draw(3);
      if (draw(2) == 0) {
        const int times = static_cast<int>(draw(3));
        code.push_back(loop(1 + inner + (inner > 0 ? 1 : 0), times, some_argument()));
      }
      if (supervisor && draw(2) == 0) {
        const bool fixed = draw(2) == 0;
        const int set = static_cast<int>(draw(2) * draw(40));
        code.push_back(run(0, set, fixed ? Instr::kNoArgument : std::uint8_t{2}));
      } else {
        code.push_back(random_issue(6, some_argument()));
      }
      if (inner > 0) code.push_back(loop(inner, static_cast<int>(draw(3))));
      for (unsigned n = 0; n < inner; ++n) code.push_back(random_issue(4, Instr::kNoArgument));
    }
    return code;
  }

  std::vector<Call> random_calls(const std::vector<std::uint32_t>& codelets, unsigned most) {
    std::vector<Call> calls;
    for (unsigned i = draw(most + 1); i > 0; --i) {
      const std::uint32_t code = codelets[draw(static_cast<unsigned>(codelets.size()))];
      const std::uint32_t a = draw(4);
      const std::uint32_t b = draw(3);
      const std::uint32_t set = draw(kSets);
      calls.push_back({code, {a, b, set}});
    }
    return calls;
  }

  void add_vertex(ProgramBuilder& builder) {
    std::vector<std::uint32_t> sets;
    for (unsigned i = 0; i < kSets * params_.tile.workers; ++i) {
      sets.push_back(draw(4) == 0 ? kNone : builder.worker(random_calls(worker_code_, 3)));
    }
    vertices_.push_back(builder.vertex(random_calls(supervisor_code_, 3), sets));
  }

  std::uint32_t add_compute(ProgramBuilder& builder) {
    for (TileId tile = 0; tile < params_.ipu.tiles; ++tile) {
      for (unsigned i = draw(3); i > 0; --i) {
        WorkItem item;
        if (draw(4) == 0) {
          item.kind = draw(2) == 0 ? WorkItem::Kind::port_send : WorkItem::Kind::port_receive;
          item.address = 2 * kRegion + draw(20);
          item.words = draw(12);
        } else {
          item.index = vertices_[draw(static_cast<unsigned>(vertices_.size()))];
          item.function = builder.function(folding(draw(100)));
        }
        builder.work(tile, item);
      }
    }
    return builder.compute_set("compute");
  }

  static VertexFunction folding(std::uint32_t salt) {
    return [salt](TileMemory& memory) {
      for (std::uint32_t w = 0; w < kRegion; ++w) {
        const std::uint32_t other = memory.word(kRegion + w) ^ memory.word(2 * kRegion + w % 30);
        memory.set_word(w, memory.word(w) * 31 + other + salt);
      }
    };
  }

  std::uint32_t add_exchange(ProgramBuilder& builder) {
    TransferList list;
    std::vector<std::uint32_t> next(params_.ipu.tiles, kRegion);
    for (unsigned i = draw(20); i > 0; --i) {
      const TileId source = draw(params_.ipu.tiles);
      const std::uint32_t words = 1 + draw(40);
      std::vector<Place> to;
      for (TileId tile = 0; tile < params_.ipu.tiles; ++tile) {
        if (tile == source || draw(2) == 0 || next[tile] + words > 2 * kRegion) continue;
        to.push_back({tile, next[tile]});
        next[tile] += words;
      }
      list.add({source, draw(kRegion - 40)}, words, to.data(), to.data() + to.size());
    }
    return builder.exchange("exchange", list);
  }

  void add_values(Program& program) {
    program.values = draw(2) == 0;
    program.memory_words = 2 * kRegion + 40;
    for (TileId tile = 0; tile < params_.ipu.tiles; ++tile) {
      Image image{{tile, 0}, {}};
      for (std::uint32_t w = 0; w < program.memory_words; ++w) {
        image.words.push_back(static_cast<std::uint32_t>(random_.next()));
      }
      program.images.push_back(std::move(image));
    }
  }

  static constexpr unsigned kSets = 2;

  Random random_;
  std::uint64_t seed_;
  ChipParams params_;
  std::vector<std::uint32_t> worker_code_;
  std::vector<std::uint32_t> supervisor_code_;
  std::vector<std::uint32_t> vertices_;
};

}  // namespace

Scenario random_scenario(std::uint64_t seed, const std::string& path, const std::string& value) {
  return RandomProgram(seed, path, value).make();
}

}  // namespace lacuna::ipu
