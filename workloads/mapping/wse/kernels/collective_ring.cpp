// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/wse/pe/vector_unit.hpp"
#include "workloads/mapping/wse/kernels/collective_parts.hpp"
#include "workloads/mapping/wse/ring_line.hpp"

namespace lacuna::wse {
namespace {

constexpr unsigned kGather = 4;  // first color of the second half

/// A core sends a message of up to kShort words itself: it is gone before many words of the round
/// have come. Of a longer one it sends the first kHead words, which queue and ramp take at once; a
/// microthread, which begins later, sends the rest.
constexpr std::uint32_t kShort = 15;
constexpr std::uint32_t kHead = 8;

constexpr std::uint8_t kSender = 1;  // microthreads
constexpr std::uint8_t kKeeper = 2;

/// An all-reduce on a ring, in 2 (P - 1) rounds. In the first half each core adds the part that it
/// takes to its own, and sends the sum on in the next round. At the end of that half each core has
/// the sum of one part. In the second half the sums go to all. A core sends and takes at the same
/// time, in the 64-bit mode of the fabric: two words of each in two cycles.
///
/// Parts are whole words. If the words do not divide evenly, some parts have one more, an odd
/// word; where that would slow all rounds down it is not kept for the next round but passed on at
/// once, ahead of its part: in both halves, or, about half way between even divisions, in one.
class Ring {
 public:
  Ring(TaskBuilder& builder, const std::vector<std::size_t>& line,
       const std::vector<Script*>& scripts, const VectorPart& part)
      : builder_(builder),
        line_(line),
        scripts_(scripts),
        part_(part),
        packed_(source_bytes(part.element) == 2 ? 2 : 1),
        words_((part.elements + packed_ - 1) / packed_),
        ring_(static_cast<std::uint32_t>(line.size()), 0) {
    const std::uint32_t odd = words_ % this->cores();
    const bool may_pass = odd != 0 && words_ / this->cores() <= kShort;
    passes_sums_ = may_pass && 4 * odd < this->cores();
    passes_parts_ = may_pass && 4 * odd < 3 * this->cores();
  }

  unsigned add() {
    route_ring(0, false);
    if (passes_sums_) route_ring(kGather, true);
    for (std::uint32_t p = 0; p < cores(); ++p) {
      use_queues(p, 0);
      if (passes_sums_) use_queues(p, kGather);
      if (passes_sums_) use_in_queue(script(p), color(p, kGather));
      add_up(p);
      gather(p);
    }
    return passes_sums_ ? 2 * kGather : kGather;
  }

 private:
  std::uint32_t cores() const { return ring_.cores(); }
  Script& script(std::uint32_t p) { return *scripts_[ring_.core_at(p)]; }
  std::uint32_t part_of(std::uint32_t p, std::uint32_t back) const {
    return (p + 2 * cores() - back) % cores();
  }

  Color color(std::uint32_t p, unsigned first) const {
    return static_cast<Color>(first + static_cast<unsigned>(ring_.color(p)));
  }

  void route_ring(unsigned first, bool loop) {
    for (std::uint32_t p = 0; p < cores(); ++p) {
      std::vector<std::size_t> path;
      for (const std::uint32_t i : ring_.link(p)) path.push_back(line_[i]);
      builder_.path(path, color(p, first));
      if (loop) builder_.route(path.front(), color(p, first), kRamp, bit(kRamp));
    }
  }

  void use_queues(std::uint32_t p, unsigned first) {
    use_in_queue(script(p + 1), color(p, first));
    use_out_queue(script(p), color(p, first));
  }

  /// Part `j` of the vector begins with this element; whole words.
  std::uint32_t begin(std::uint32_t j) const {
    return std::min(part_.elements,
                    static_cast<std::uint32_t>(std::uint64_t{words_} * j / cores()) * packed_);
  }
  /// The elements of part `j` that are kept from round to round, if its odd word is passed on.
  std::uint32_t kept(std::uint32_t j, bool passes) const {
    const std::uint32_t all = begin(j + 1) - begin(j);
    const std::uint32_t even = words_ / cores() * packed_;
    return passes ? std::min(all, even) : all;
  }

  Operand place(std::uint32_t element) const {
    return in_memory(part_.address + element * source_bytes(part_.element));
  }
  Instruction on(const Operand& to, const Operand& from, std::uint32_t length) const {
    Instruction made = move(part_.element, to, from, length);
    made.simd64 = true;
    return made;
  }

  Color out(std::uint32_t p, unsigned first) const { return color(p, first); }
  Color in(std::uint32_t p, unsigned first) const { return color(part_of(p, 1), first); }

  /// The first half of a round: a part leaves.
  void send(std::uint32_t p, std::uint32_t j, bool passes) {
    const std::uint32_t length = kept(j, passes);
    const std::uint32_t head = length <= kShort * packed_ ? length : kHead * packed_;
    // what the microthread still has of the round before goes first: an instruction without
    // elements is a wait for it
    script(p).beside(on({}, {}, 0), kSender);
    Instruction send = on(on_fabric(out(p, 0)), place(begin(j)), head);
    script(p).then(send);
    send.a = place(begin(j) + head);
    send.length = length - head;
    if (send.length != 0) script(p).beside(send, kSender);
  }

  /// The second: another comes, and is added to what the core has or kept in its place.
  void take(std::uint32_t p, std::uint32_t j, bool passes, bool adds) {
    Instruction take = on(place(begin(j)), on_fabric(in(p, 0)), kept(j, passes));
    if (adds) take.op = VectorOp::add;
    if (adds) take.b = place(begin(j));
    script(p).then(take);
  }

  /// The odd word of a part: from memory at its first core, then added and passed on at once;
  /// `last`: kept.
  void pass_sum(std::uint32_t p, std::uint32_t j, bool first, bool last) {
    const std::uint32_t even = kept(j, true);
    const Operand here = place(begin(j) + even);
    Instruction pass = on(last ? here : on_fabric(out(p, 0)), first ? here : on_fabric(in(p, 0)),
                          begin(j + 1) - begin(j) - even);
    if (!first) pass.op = VectorOp::add;
    if (!first) pass.b = here;
    script(p).then(pass);
  }

  void add_up(std::uint32_t p) {
    if (passes_parts_) pass_sum(p, p, true, false);
    for (std::uint32_t s = 0; s + 1 < cores(); ++s) {
      const std::uint32_t next = part_of(p, s + 1);
      send(p, part_of(p, s), passes_parts_);
      if (passes_parts_) pass_sum(p, next, false, s + 2 == cores());
      take(p, next, passes_parts_, true);
    }
  }

  /// The odd word of a sum: passed on at once; the router gives the core a copy to keep.
  void pass_copy(std::uint32_t p, std::uint32_t j, bool first, bool last) {
    const std::uint32_t even = kept(j, true);
    const Operand here = place(begin(j) + even);
    const Operand next = on_fabric(out(p, kGather));
    const std::uint32_t odd = begin(j + 1) - begin(j) - even;
    if (!last) script(p).beside(on(here, next, odd), kKeeper);
    script(p).then(on(last ? here : next, first ? here : on_fabric(in(p, kGather)), odd));
  }

  void gather(std::uint32_t p) {
    if (passes_sums_) pass_copy(p, part_of(p + 1, 0), true, false);
    for (std::uint32_t s = 0; s + 1 < cores(); ++s) {
      send(p, part_of(p + 1, s), passes_sums_);
      if (passes_sums_) pass_copy(p, part_of(p, s), false, s + 2 == cores());
      take(p, part_of(p, s), passes_sums_, false);
    }
  }

  TaskBuilder& builder_;
  const std::vector<std::size_t>& line_;
  const std::vector<Script*>& scripts_;
  const VectorPart part_;
  const std::uint32_t packed_;  // elements of a word
  const std::uint32_t words_;   // of the vector
  const RingLine ring_;
  bool passes_sums_ = false;   // odd words are passed on at once in the second half
  bool passes_parts_ = false;  // and in the first
};

}  // namespace

unsigned add_ring(TaskBuilder& builder, const std::vector<std::size_t>& line,
                  const std::vector<Script*>& scripts, const VectorPart& part) {
  return Ring(builder, line, scripts, part).add();
}

}  // namespace lacuna::wse
