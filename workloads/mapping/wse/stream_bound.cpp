// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/stream_bound.hpp"

#include <algorithm>
#include <optional>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {
namespace {

/// By place, of the columns of a row: cycles of issue slots that its elements take, and cycles of
/// its main threads until the last of its words has taken effect.
struct HeldWork {
  std::vector<std::uint64_t> slots;
  std::vector<std::uint64_t> paced;
};

class Bound {
 public:
  Bound(const StreamingKernel& kernel, const CoreParams& core, const StreamLoads& loads,
        std::uint32_t tokens, const HeldWork* held = nullptr)
      : k_(kernel),
        core_(core),
        loads_(loads),
        held_(held),
        groups_(kernel.groups.count),
        width_(loads.sent.size()),
        adds_(kernel.beats_that_add.cycles_of(tokens, kernel.simd)),
        first_(std::min(adds_, kernel.first_beats.cycles_of(tokens, kernel.simd))),
        words_(kernel.packed_words(tokens)),
        moved_(kernel.sum_words(tokens)) {}

  /// Of each place the sum over its columns in all groups, of which none is above the time.
  Cycle cores() const {
    const std::optional<Ring> ring = ring_of_sums();
    const std::vector<std::uint64_t> tails =
        ring ? tails_of_groups(*ring) : std::vector<std::uint64_t>(width_, 0);
    Cycle most = ring ? rows_in_turn(*ring) : 0;
    for (std::size_t place = 0; place < width_; ++place) {
      const std::uint64_t main = products(place);
      const std::uint64_t sums = sums_of(place);
      const std::uint64_t own = std::max(slots(main, sums), dispatches(place));
      const std::uint64_t exchanged = slots(main, sums + packets());
      most = std::max(most, ceil_div(std::max(own + tails[place], exchanged), groups_));
    }
    return most;
  }

  /// The first link within the last group: what all groups before it send, and its own ring.
  Cycle link() const {
    if (!loads_.exchanges || width_ < 3) return 0;
    // rows that places on this side of it keep, at most
    const std::uint64_t here = ceil_div(std::uint64_t{k_.steps} * groups_, width_);
    const std::uint64_t others = groups_ - 1;
    const std::uint64_t rows = k_.steps - std::min<std::uint64_t>(k_.steps, here);
    return others * rows * (words_ + 1) + (loads_.ring ? rows * words_ : 0);
  }

 private:
  std::uint64_t issues(std::uint64_t words) const {
    return ceil_div(words, core_.fabric_words_per_issue.value());
  }

  /// Cycles of so many of the main threads and of microthreads.
  std::uint64_t slots(std::uint64_t main, std::uint64_t others) const {
    return IssueRule(core_).two ? std::max(main, others) : main + others;
  }

  /// Issue slots of the weights of a place's columns.
  std::uint64_t products(std::size_t place) const {
    if (held_ != nullptr) return held_->slots[place];
    const std::uint64_t sent = loads_.sent[place];
    const std::uint64_t rows = std::uint64_t{k_.steps} * groups_;
    const std::uint64_t first = std::min(rows, sent);  // that may overwrite, in fewer cycles
    return first * first_ + (sent - first) * adds_;
  }

  /// And of their rows of sums, each of which they send on or keep, and of other sums they take in.
  std::uint64_t sums_of(std::size_t place) const {
    if (width_ < 2) return 0;
    const std::uint64_t gathers = loads_.gathers.empty() ? 0 : loads_.gathers[place];
    const std::uint64_t rows = std::uint64_t{k_.steps} * groups_;
    return issues(moved_) * (rows * k_.reduce_cycles + gathers * k_.gather_cycles);
  }

  /// Issue slots of the packets that the columns of a place send and take.
  std::uint64_t packets() const {
    if (!loads_.exchanges) return 0;
    const std::uint64_t others = groups_ - 1;
    return ceil_div(k_.steps, width_) * issues(words_) *
           (2 * others * k_.exchange.send_cycles + groups_ * others * k_.exchange.take_cycles);
  }

  /// Cycles of their main threads. A weight takes effect no sooner after the one before than it is
  /// dispatched, and that one has its beats; a word of several weights likewise, each with its
  /// share of that. The command that ends a row waits for the last weight too, and delays the next
  /// one.
  std::uint64_t dispatches(std::size_t place) const {
    const std::uint64_t rows = std::uint64_t{k_.steps} * groups_;
    const std::uint64_t each = k_.weights_per_word();
    const std::uint64_t data = core_.dispatch.value();
    const std::uint64_t command = core_.cmd_cycles.value();
    if (held_ != nullptr) return held_->paced[place] + rows * std::min(data, command);
    const std::uint64_t sent = loads_.sent[place];
    const std::uint64_t work = each * first_;
    return sent * std::max(work, data) / each + rows * std::min(data, command);
  }

  /// The places of a group as their sums go round.
  struct Ring {
    std::vector<std::size_t> at;       // by place, its position
    std::vector<std::uint64_t> since;  // by position: cycles from the first to it, then the whole

    std::uint64_t way(std::size_t from, std::size_t to) const {  // positions
      return since[to] + (from > to ? since.back() : 0) - since[from];
    }
  };

  /// Nothing if there is none, or it is not known who keeps which row.
  std::optional<Ring> ring_of_sums() const {
    const std::size_t known = std::size_t{k_.steps} * groups_;
    if (!loads_.ring || width_ < 2 || k_.final_column.size() != known || known == 0) return {};
    const std::vector<std::uint32_t> order = ring_order(static_cast<std::uint32_t>(width_));
    Ring ring{std::vector<std::size_t>(width_), std::vector<std::uint64_t>(width_ + 1, 0)};
    for (std::size_t i = 0; i < width_; ++i) {
      ring.at[order[i]] = i;
      ring.since[i + 1] = ring.since[i] + step(order[i], order[(i + 1) % width_]);
    }
    return ring;
  }

  /// The position of the place that keeps a row of a group.
  std::size_t keeper(const Ring& ring, std::size_t row, std::size_t group) const {
    return ring.at[k_.groups.place_of(k_.final_column[row * groups_ + group])];
  }

  /// By place, what the last row of each group still has before it when the column of that place
  /// has issued its last word of it: the columns that follow on the ring, each with a cycle in the
  /// output queue, a ramp up, the links between and a ramp down. Added up over the groups.
  std::vector<std::uint64_t> tails_of_groups(const Ring& ring) const {
    std::vector<std::uint64_t> tails(width_, 0);
    for (std::uint32_t g = 0; g < groups_; ++g) {
      const std::size_t last = keeper(ring, k_.steps - std::size_t{1}, g);
      for (std::size_t place = 0; place < width_; ++place) {
        tails[place] += ring.way(ring.at[place], last);
      }
    }
    return tails;
  }

  /// Of the slowest group. A column takes rows of sums in their order, so that a row begins, behind
  /// the column that will keep it, no sooner than the row before has come by there and has had its
  /// issues; the last one goes all the way round.
  Cycle rows_in_turn(const Ring& ring) const {
    const std::uint64_t issued = issues(words_) * k_.reduce_cycles;
    Cycle most = 0;
    for (std::uint32_t g = 0; g < groups_; ++g) {
      std::size_t begins = (keeper(ring, 0, g) + 1) % width_;
      Cycle cycles = 0;
      for (std::size_t row = 1; row < k_.steps; ++row) {
        const std::size_t next = (keeper(ring, row, g) + 1) % width_;
        cycles += ring.way(begins, next) + issued;
        begins = next;
      }
      const std::size_t last = keeper(ring, k_.steps - std::size_t{1}, g);
      most = std::max(most, cycles + ring.way(begins, last) + issued);
    }
    return most;
  }

  /// Cycles from a word's issue in one place to its issue in the next.
  std::uint64_t step(std::uint32_t from, std::uint32_t to) const {
    const std::uint64_t links = std::uint64_t{from > to ? from - to : to - from} * loads_.between;
    return 1 + 2 * std::uint64_t{loads_.ramp} + links * loads_.hop;
  }

  const StreamingKernel& k_;
  const CoreParams& core_;
  const StreamLoads& loads_;
  const HeldWork* const held_;
  const std::uint64_t groups_;
  const std::uint64_t width_;
  const std::uint64_t adds_;   // cycles of the beats of a weight
  const std::uint64_t first_;  // of the first one, if they are fewer
  const std::uint64_t words_;  // of a row of sums
  const std::uint64_t moved_;  // of them, along the row of cores
};

}  // namespace

std::vector<std::uint64_t> gathers_of(const ReducePlan& plan, const ColumnGroups& groups,
                                      const std::vector<std::uint32_t>& keepers) {
  const std::uint32_t width = groups.width;
  std::vector<std::uint64_t> taken(width, 0);
  std::vector<std::uint64_t> kept(width, 0);
  for (const std::uint32_t keeper : keepers) ++kept[groups.place_of(keeper)];
  for (std::size_t keeper = 0; keeper < width && !plan.roles.empty(); ++keeper) {
    for (std::size_t place = 0; place < width; ++place) {
      const std::uint64_t inputs = plan.roles[keeper * width + place].inputs;
      taken[place] += kept[keeper] * (inputs - std::min<std::uint64_t>(inputs, 1));
    }
  }
  return taken;
}

Cycle least_cycles_of_cores(const StreamingKernel& kernel, const CoreParams& core,
                            const StreamLoads& loads) {
  if (kernel.tokens.empty() || loads.sent.empty()) return 0;
  const Bound entry(kernel, core, loads, kernel.tokens[loads.entry]);
  // the farthest row may have a token less, and has its first word later
  std::uint32_t least = kernel.tokens[loads.entry];
  for (const std::uint32_t tokens : kernel.tokens) {
    if (tokens != 0) least = std::min(least, tokens);
  }
  const Bound last(kernel, core, loads, least);
  const Cycle later = std::uint64_t{loads.farthest} * loads.hop;
  return std::max({entry.cores(), last.cores() + later, entry.link()});
}

namespace {

HeldWork work_of_row(const StreamingKernel& kernel, const CoreParams& core, std::size_t width,
                     std::size_t row, const std::vector<std::vector<std::uint32_t>>& words) {
  HeldWork work{std::vector<std::uint64_t>(width, 0), std::vector<std::uint64_t>(width, 0)};
  const std::uint64_t dispatch = core.dispatch.value();
  for (std::uint32_t c = 0; c < words.size(); ++c) {
    const std::size_t place = kernel.groups.place_of(c);
    const auto held = kernel.held[row * words.size() + c];
    for (std::size_t feature = 0; feature < held.size(); ++feature) {
      const std::uint64_t cycles =
          std::uint64_t{held[feature]} * kernel.beats_that_add.cycles(0, 1);
      work.slots[place] += words[c][feature] * cycles;
      work.paced[place] += words[c][feature] * std::max(cycles, dispatch);
    }
  }
  return work;
}

}  // namespace

Cycle least_cycles_of_held(const StreamingKernel& kernel, const CoreParams& core,
                           const StreamLoads& loads,
                           const std::vector<std::vector<std::uint32_t>>& words) {
  Cycle least = 0;
  for (std::size_t row = 0; row < kernel.tokens.size(); ++row) {
    const std::uint32_t tokens = kernel.tokens[row];
    if (tokens == 0) continue;
    const HeldWork work = work_of_row(kernel, core, loads.sent.size(), row, words);
    const Bound bound(kernel, core, loads, tokens, &work);
    const std::size_t entry = loads.entry;
    const std::size_t distance = std::max(row, entry) - std::min(row, entry);
    least = std::max({least, bound.cores() + distance * loads.hop, bound.link()});
  }
  return least;
}

namespace {

/// Of a row of cores that share `tokens` to a group, with its sums on their way to the edge.
class GradientBound {
 public:
  GradientBound(const Program& program, const CoreParams& core, std::uint32_t tokens, Cycle way)
      : k_(program.kernel),
        g_(*program.gradient),
        core_(core),
        way_(way),
        beats_(ceil_div(tokens, k_.simd) * g_.dot_cycles),
        moves_(ceil_div(ceil_div(tokens, k_.ring_elements), core.fabric_words_per_issue.value()) *
               g_.move_cycles) {}

  /// `owned`: rows whose dY a column has; `after`: those of the next one on its ring.
  Cycle column(std::uint64_t positions, std::uint64_t owned, std::uint64_t after) const {
    const std::uint64_t main = positions * beats_;
    // a row of another column is taken, and each is sent on but by the last column on its way
    const std::uint64_t ring = moves_ * (2 * (k_.steps - owned) + owned - after);
    const std::uint64_t chain = g_.kept ? 0 : positions;
    const bool two = IssueRule(core_).two;
    const std::uint64_t issued = two ? std::max(main, ring + chain) : main + ring + chain;
    const std::uint64_t paced = positions * std::max<std::uint64_t>(beats_, core_.dispatch.value());
    if (positions == 0) return issued;
    if (!g_.kept) return std::max(issued, paced + way_);  // the last dot product leaves
    return std::max(issued, paced) + positions + way_;    // all do, one after the other
  }

 private:
  const StreamingKernel& k_;
  const GradientKernel& g_;
  const CoreParams& core_;
  const Cycle way_;
  const std::uint64_t beats_;  // cycles of a dot product
  const std::uint64_t moves_;  // cycles that take or send a row of dY
};

/// What enters and leaves, at the rate of the edge and what it may have saved up.
Cycle edge_cycles(const Program& program, std::uint64_t positions) {
  const StreamingKernel& k = program.kernel;
  std::uint64_t in = 0;
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    if (!program.has_stream(c)) continue;
    in += k.steps;  // commands
    for (std::uint32_t s = 0; s < k.steps; ++s) in += k.count(s, c);
  }
  const std::uint64_t out = positions * program.exit_words;
  const std::uint64_t words = program.full_duplex ? std::max(in, out) : in + out;
  const std::uint64_t saved = 2 * std::uint64_t{program.columns} + 2;
  return (words - std::min(words, saved)) * program.rate.per / program.rate.words;
}

/// Visits the columns of each ring in order, each with the one after it.
template <class Visit>
void for_each_ring_hop(const ColumnGroups& groups, const Visit& visit) {
  const std::vector<std::uint32_t> order = ring_order(groups.width);
  for (std::uint32_t g = 0; g < groups.count; ++g) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      visit(groups.column_of(g, order[i]), groups.column_of(g, order[(i + 1) % order.size()]));
    }
  }
}

/// Rows of dY that pass the busiest link of a row of cores, `owned` by column. A row goes around
/// its ring up to the column before the one that has it.
std::uint64_t rows_on_a_link(const StreamingKernel& k, const std::vector<std::uint64_t>& owned) {
  std::vector<std::uint64_t> east(owned.size(), 0);  // by the column to the west of the link
  std::vector<std::uint64_t> west(owned.size(), 0);
  for_each_ring_hop(k.groups, [&](std::uint32_t c, std::uint32_t next) {
    std::vector<std::uint64_t>& links = next > c ? east : west;
    for (std::uint32_t at = std::min(c, next); at < std::max(c, next); ++at) {
      links[at] += k.steps - owned[next];
    }
  });
  return std::max(*std::max_element(east.begin(), east.end()),
                  *std::max_element(west.begin(), west.end()));
}

}  // namespace

Cycle least_cycles_of_gradient(const Program& program, const CoreParams& core, unsigned hop,
                               unsigned ramp) {
  const StreamingKernel& k = program.kernel;
  std::vector<std::uint64_t> positions(program.columns, 0);
  std::vector<std::uint64_t> owned(program.columns, 0);
  for (std::size_t i = 0; i < k.counts.size(); ++i) positions[i % program.columns] += k.counts[i];
  for (const std::uint32_t column : k.final_column) ++owned[column];
  const std::uint32_t first = program.distribution_rows;
  if (k.tokens.size() <= first || k.steps == 0) return 0;
  const auto below = static_cast<Cycle>(k.tokens.size() - first - 1);
  const GradientBound row(program, core, k.tokens[first], below * (2 * Cycle{ramp} + hop));
  Cycle most = rows_on_a_link(k, owned) * ceil_div(k.tokens[first], k.ring_elements);
  for_each_ring_hop(k.groups, [&](std::uint32_t c, std::uint32_t next) {
    most = std::max(most, row.column(positions[c], owned[c], owned[next]));
  });
  std::uint64_t all = 0;
  for (const std::uint64_t each : positions) all += each;
  return std::max(most, edge_cycles(program, all));
}

}  // namespace lacuna::wse
