// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/wse/vector_unit.hpp"
#include "workloads/mapping/wse/collective_parts.hpp"

namespace lacuna::wse {
namespace {

/// Longest message, in words, that a core sends before it takes one: two of them pass in the time
/// of a step of the ring, and as many fit the queue it goes to.
constexpr std::uint32_t kShortMessage = 7;

/// Words of a longer message that are under way between two cores at a time: the queues and
/// buffers between them hold more, and a core has taken the first when it sends the last.
constexpr std::uint32_t kPiece = 12;

constexpr unsigned kGather = 4;      // first color of the second half
constexpr std::uint8_t kKeeper = 2;  // a microthread

/// An all-reduce on a ring: in P - 1 steps each core adds what it gets to its own part and passes
/// it on, until each core has the sum of one part; then the sums go to all.
class Ring {
 public:
  Ring(TaskBuilder& builder, const std::vector<std::size_t>& line,
       const std::vector<Script*>& scripts, const VectorPart& part)
      : builder_(builder), line_(line), scripts_(scripts), part_(part) {
    const std::size_t cores = line.size();
    for (std::size_t i = 0; i < cores; i += 2) order_.push_back(i);
    for (std::size_t i = cores - 1 - cores % 2; i < cores; i -= 2) order_.push_back(i);
  }

  unsigned add() {
    const std::uint32_t bytes = source_bytes(part_.element);
    const std::uint32_t words = words_of(bytes, part_.elements);
    const std::uint32_t longest = (words + cores() - 1) / cores();
    const bool single = words < cores();
    route_ring(0, false);
    for (std::uint32_t p = 0; p < cores(); ++p) use_queues(p, 0);
    if (single || longest > kShortMessage) {
      for (std::uint32_t p = 0; p < cores(); ++p) scatter_streaming(p, longest);
    } else {
      for (std::uint32_t p = 0; p < cores(); ++p) exchange_steps(p);
      return 4;
    }
    if (single) {
      route_ring(kGather, true);
      for (std::uint32_t p = 0; p < cores(); ++p) gather_single(p);
      return 2 * kGather;
    }
    route_line();
    for (std::uint32_t p = 0; p < cores(); ++p) gather_line(p);
    return kGather + 2;
  }

 private:
  std::uint32_t cores() const { return static_cast<std::uint32_t>(line_.size()); }
  Script& script(std::uint32_t p) { return *scripts_[order_[p]]; }
  std::uint32_t after(std::uint32_t p) const { return (p + 1) % cores(); }
  std::uint32_t part_of(std::uint32_t p, std::uint32_t back) const {
    return (p + 2 * cores() - back) % cores();
  }

  /// The color on which place p of the ring sends: two for each direction, by turns.
  Color color(std::uint32_t p, unsigned first) const {
    const bool east = order_[after(p)] > order_[p];
    return static_cast<Color>(first + (east ? 0 : 2) + p % 2);
  }

  void route_ring(unsigned first, bool loop) {
    for (std::uint32_t p = 0; p < cores(); ++p) {
      std::vector<std::size_t> path;
      const std::size_t from = order_[p];
      const std::size_t to = order_[after(p)];
      for (std::size_t i = from;; i += to > from ? 1 : std::size_t(-1)) {
        path.push_back(line_[i]);
        if (i == to) break;
      }
      builder_.path(path, color(p, first));
      if (loop) builder_.route(line_[from], color(p, first), kRamp, bit(kRamp));
    }
  }

  void use_queues(std::uint32_t p, unsigned first) {
    use_in_queue(script(after(p)), color(p, first));
    use_out_queue(script(p), color(p, first));
  }

  /// Part `j` of the vector: first element and elements, whole words.
  std::uint32_t begin(std::uint32_t j) const {
    const std::uint32_t packed = source_bytes(part_.element) == 2 ? 2 : 1;
    const std::uint64_t words = (part_.elements + packed - 1) / packed;
    return std::min(part_.elements, static_cast<std::uint32_t>(words * j / cores()) * packed);
  }
  Instruction on_part(std::uint32_t j) const {
    Instruction instruction;
    instruction.element = part_.element;
    instruction.length = begin(j + 1) - begin(j);
    return instruction;
  }
  Operand place(std::uint32_t j) const {
    return in_memory(part_.address + begin(j) * source_bytes(part_.element));
  }

  Instruction send(std::uint32_t j, Color to) const {
    Instruction instruction = on_part(j);
    instruction.to = on_fabric(to);
    instruction.a = place(j);
    return instruction;
  }
  Instruction keep(std::uint32_t j, Color from) const {
    Instruction instruction = on_part(j);
    instruction.to = place(j);
    instruction.a = on_fabric(from);
    return instruction;
  }
  Instruction sum(std::uint32_t j, Color from) const {
    Instruction instruction = keep(j, from);
    instruction.op = VectorOp::add;
    instruction.b = place(j);
    return instruction;
  }

  /// Both halves in 2 (P - 1) steps: send a part, then take one.
  void exchange_steps(std::uint32_t p) {
    const Color in = color(part_of(p, 1), 0);
    const Color out = color(p, 0);
    for (std::uint32_t s = 0; s + 1 < cores(); ++s) {
      script(p).then(send(part_of(p, s), out));
      script(p).then(sum(part_of(p, s + 1), in));
    }
    for (std::uint32_t s = 0; s + 1 < cores(); ++s) {
      script(p).then(send(part_of(p + 1, s), out));
      script(p).then(keep(part_of(p, s), in));
    }
  }

  /// The first half, each part passed on while it is added. Long parts go round in pieces that
  /// the queues and buffers between two cores can hold, or all would send and none receive.
  void scatter_streaming(std::uint32_t p, std::uint32_t longest) {
    const Color in = color(part_of(p, 1), 0);
    const Color out = color(p, 0);
    for (std::uint32_t first = 0; first < longest; first += kPiece) {
      add_piece(p, send(part_of(p, 0), out), first);
      for (std::uint32_t s = 0; s + 1 < cores(); ++s) {
        Instruction add = sum(part_of(p, s + 1), in);
        if (s + 2 < cores()) add.to = on_fabric(out);
        add_piece(p, add, first);
      }
    }
  }

  /// The words of `whole` from number `first` on, as many as a piece has.
  void add_piece(std::uint32_t p, Instruction whole, std::uint32_t first) {
    const std::uint32_t packed = source_bytes(part_.element) == 2 ? 2 : 1;
    const std::uint32_t skip = first * packed;
    if (whole.length <= skip) return;
    whole.length = std::min(whole.length - skip, kPiece * packed);
    for (Operand* operand : {&whole.to, &whole.a, &whole.b}) {
      if (operand->kind == Operand::Kind::memory) {
        operand->address += skip * source_bytes(part_.element);
      }
    }
    script(p).then(whole);
  }

  /// Parts of one word: passed on at once, while the router gives the core a copy to keep.
  void gather_single(std::uint32_t p) {
    const Color in = color(part_of(p, 1), kGather);
    const Color out = color(p, kGather);
    use_queues(p, kGather);
    use_in_queue(script(p), out);
    const auto pass = [&](std::uint32_t j, const Operand& from) {
      if (on_part(j).length == 0) return;
      script(p).beside(keep(j, out), kKeeper);
      Instruction forward = send(j, out);
      forward.a = from;
      script(p).then(forward);
    };
    pass(part_of(p + 1, 0), place(part_of(p + 1, 0)));
    for (std::uint32_t s = 0; s + 2 < cores(); ++s) pass(part_of(p, s), on_fabric(in));
    script(p).then(keep(part_of(p, cores() - 2), in));
  }

  /// Each core's sum goes to all others, east and west. Eastwards the nearest core's comes first: a
  /// router lets out its own core's words, then those from behind. Westwards the farthest core's
  /// comes first: a router lets out its own core's words when those of the core behind it have
  /// passed, whose last word says so. So a core takes all words from the east, sends its own both
  /// ways, and takes those from the west, without two of these at a time.
  void route_line() {
    for (std::size_t i = 0; i < line_.size(); ++i) {
      const bool first = i == 0;
      const bool last = i + 1 == line_.size();
      const Color east{kGather};
      const Color west{kGather + 1};
      builder_.pops(line_[i], west);
      if (!last) {
        const Port to = builder_.towards(line_[i], line_[i + 1]);
        builder_.route(line_[i], east, kRamp, bit(to), 0);
        if (!first) pass(i, i - 1, east, to, 1);
        pass(i, i + 1, west, first ? kRamp : builder_.towards(line_[i], line_[i - 1]), 0);
      } else {
        pass(i, i - 1, east, kRamp, 0);
      }
      if (first) continue;
      const Port to = builder_.towards(line_[i], line_[i - 1]);
      builder_.route(line_[i], west, kRamp, bit(to), last ? 0 : 1);
    }
  }

  /// What comes from a neighbour goes on to a port, and a copy to the core.
  void pass(std::size_t i, std::size_t from, Color color, Port to, std::uint8_t position) {
    builder_.route(line_[i], color, builder_.towards(line_[i], line_[from]),
                   static_cast<PortSet>(bit(to) | bit(kRamp)), position);
  }

  void gather_line(std::uint32_t p) {
    constexpr SwitchCommands kAdvance = first_command(SwitchCommand::advance);
    const std::size_t here = order_[p];
    const Color east{kGather};
    const Color west{kGather + 1};
    std::vector<std::uint32_t> owned(cores());  // by place on the line: the part it sends
    for (std::uint32_t q = 0; q < cores(); ++q) owned[order_[q]] = part_of(q + 1, 0);
    const auto send_side = [&](Color color, unsigned switches) {
      Instruction out = send(owned[here], color);
      out.switches = static_cast<SwitchCommands>(switches);
      use_out_queue(script(p), color);
      script(p).then(out);
    };
    if (here + 1 != cores()) use_in_queue(script(p), west);
    for (std::size_t i = cores() - 1; i != here; --i) script(p).round(keep(owned[i], west));
    if (here != 0) send_side(west, kAdvance << 2U);  // for the next router
    if (here + 1 != cores()) send_side(east, kAdvance | kOwnRouterOnly);
    if (here != 0) use_in_queue(script(p), east);
    for (std::size_t i = here; i-- > 0;) script(p).round(keep(owned[i], east));
  }

  TaskBuilder& builder_;
  const std::vector<std::size_t>& line_;
  const std::vector<Script*>& scripts_;
  const VectorPart part_;
  std::vector<std::size_t> order_;  // by place on the ring: place on the line
};

}  // namespace

unsigned add_ring(TaskBuilder& builder, const std::vector<std::size_t>& line,
                  const std::vector<Script*>& scripts, const VectorPart& part) {
  return Ring(builder, line, scripts, part).add();
}

}  // namespace lacuna::wse
