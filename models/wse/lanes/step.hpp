// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/lanes/shape.hpp"
#include "models/wse/lanes/vectors.hpp"

// The cycle of routers and cores, once for all shapes and widths. Compiled with flags of its own,
// so it includes nothing that has code elsewhere: std and the rest of the project are left out.

namespace lacuna::wse::lanes {

template <const Shape& kShape, unsigned W>
class Stepper {
 public:
  using V = typename Vec<W>::Type;

  static Happened step(const Machine& machine, std::uint64_t now) {
    Happened all;
    for (std::uint32_t b = 0; b < machine.blocks; ++b) {
      std::uint8_t& comes = machine.comes[now % 2 * machine.blocks + b];
      Sleep& sleep = machine.sleeps[b];
      if (comes == 0 && sleep.until > now) {
        if (sleep.until < all.next) all.next = sleep.until;
        continue;
      }
      if (sleep.until != 0) machine.wake(machine.owner, b);
      sleep.until = 0;
      Stepper stepper(machine, now, b);
      stepper.block(comes != 0);
      comes = 0;
      all.stepped = true;
      all.moved = all.moved || stepper.moved_;
    }
    return all;
  }

 private:
  static constexpr Layout kAt = Layout(kShape);

  Stepper(const Machine& machine, std::uint64_t now, std::uint32_t block)
      : m_(machine),
        now_(now),
        index_(block),
        fields_(reinterpret_cast<V*>(machine.fields) + std::uint64_t{block} * kAt.fields),
        place_((block / machine.blocks_of_row + 1) * machine.stride + kFrame +
               block % machine.blocks_of_row * std::uint64_t{W}),
        here_(now % 2 * kMostSlots * machine.plane),
        before_((now + 1) % 2 * kMostSlots * machine.plane) {}

  [[gnu::always_inline]] V& f(int field) { return fields_[field]; }
  [[gnu::always_inline]] static V all(int number) { return V{} + static_cast<std::int8_t>(number); }
  [[gnu::always_inline]] static V select(const V& mask, const V& a, const V& b) {
    return (mask & a) | (~mask & b);
  }
  [[gnu::always_inline]] static V load(const std::int8_t* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  [[gnu::always_inline]] static void store(std::int8_t* to, const V& v) {
    __builtin_memcpy(to, &v, sizeof v);
  }
  [[gnu::always_inline]] std::uint64_t of(int slot) const {
    return place_ + static_cast<std::uint64_t>(slot) * m_.plane;
  }
  /// From a router to its neighbour behind a port.
  [[gnu::always_inline]] std::int64_t to_neighbour(int port) const {
    const auto row = static_cast<std::int64_t>(m_.stride);
    return port == 0 ? -row : port == 1 ? 1 : port == 2 ? row : -1;
  }
  static constexpr int kSouth = 2;
  static constexpr bool is_switched(int slot) { return kShape.slot[slot].switched; }
  [[gnu::always_inline]] V capacity(int slot) const {
    return all(kShape.slot[slot].port == kRampPort ? m_.ramp_room : m_.link_room);
  }
  /// Tells of the lanes in which it happens, if there are any.
  [[gnu::always_inline]] void tell(Event what, int of, const V& lanes) const {
    if (!any(lanes)) return;
    alignas(64) Table<std::int8_t, W> copy = {};
    store(copy.begin(), lanes);
    m_.tell(m_.owner, index_, what, of, copy.begin());
  }

  void block(bool comes) {
    const bool words = comes || m_.awake[index_] != 0 || m_.link_shut != 0;
    if (words) {
      receive();
      begin_cycle();
      choose();
    }
    control();
    issue();
    if (words) move();
    apply();
    if (!words && m_.awake[index_] == 0) fall_asleep();
  }

  void receive() {
    each<kShape.slots>([&](auto s) {
      constexpr int kSlot = decltype(s)::value;
      constexpr int kPort = kShape.slot[kSlot].port;
      if constexpr (kPort != kRampPort) {
        const auto away = static_cast<std::uint64_t>(to_neighbour(kPort));
        const std::uint64_t from = before_ + of(kSlot) + away;
        const V come = load(m_.sent + from);
        f(kAt.flight[kSlot]) |= come & all(m_.link_bit);
        f(kAt.count[kSlot]) -= come;
        if constexpr (is_switched(kSlot)) push_tag(kSlot, come, load(m_.sent_tags + from));
      }
    });
  }
  void push_tag(int slot, const V& come, const V& tag) {
    V& tail = f(kAt.tail[slot]);
    f(kAt.tags[slot]) |= come & tag & tail;
    tail += tail & come;
  }

  [[gnu::always_inline]] void begin(int seen, int flight) {
    V& under_way = f(flight);
    f(seen) += under_way & all(1);
    under_way = (under_way >> 1) & all(0x7F);
  }
  void begin_cycle() {
    each<kShape.slots>([&](auto s) {
      constexpr int kSlot = decltype(s)::value;
      begin(kAt.seen[kSlot], kAt.flight[kSlot]);
    });
    each<kShape.classes>([&](auto c) {
      constexpr int kClass = decltype(c)::value;
      if constexpr (kAt.to_core[kClass]) begin(kAt.in_seen[kClass], kAt.in_flight[kClass]);
    });
  }

  /// Which copies are made, which heads leave, which words go up the ramp.
  void choose() {
    each<kShape.slots>([&](auto s) { look(s); });
    if (m_.link_shut != 0) open_links();
    each<kShape.paths>([&](auto p) {
      constexpr int kPath = decltype(p)::value;
      constexpr int kSlot = kShape.path[kPath].slot;
      constexpr int kPort = kShape.path[kPath].port;
      const V wanted = wants(p);
      V open = room<kSlot, kPort, kAt.to_slot[kPath]>();
      if constexpr (kPort != kRampPort) {
        if (m_.link_shut != 0) open &= f(kAt.shut[kPort]) == V{};
      }
      go_[kPath] = wanted & open;
      if constexpr (kPort == kSouth && (is_switched(kSlot) || kShape.slot[kSlot].several)) {
        f(kAt.closed) -= f(kAt.many[kSlot]) & wanted & ~open;
      }
    });
    each<kRampPort + 1>([&](auto port) {
      constexpr int kPort = decltype(port)::value;
      if constexpr ((kShape.contested >> kPort & 1U) != 0) contest<kPort>();
    });
    if (m_.link_shut != 0) use_links();
    each<kShape.slots>([&](auto s) { leave(s); });
    choose_up();
  }

  /// After so many words a link is shut for some cycles.
  void open_links() {
    each<kRampPort>([&](auto port) {
      V& shut = f(kAt.shut[decltype(port)::value]);
      shut += shut > V{};
    });
  }
  void use_links() {
    each<kShape.paths>([&](auto p) {
      constexpr int kPort = kShape.path[decltype(p)::value].port;
      if constexpr (kPort != kRampPort) f(kAt.passed[kPort]) -= go_[decltype(p)::value];
    });
    each<kRampPort>([&](auto port) {
      constexpr int kPort = decltype(port)::value;
      const V full = f(kAt.passed[kPort]) == all(m_.link_words);
      f(kAt.passed[kPort]) &= ~full;
      f(kAt.shut[kPort]) = select(full, all(m_.link_shut), f(kAt.shut[kPort]));
    });
  }

  /// A head of a switched slot finds out where it goes, as soon as it goes anywhere.
  template <class S>
  [[gnu::always_inline]] void look(S /*slot*/) {
    constexpr int kSlot = S::value;
    head_[kSlot] = f(kAt.seen[kSlot]) > V{};
    if constexpr (is_switched(kSlot)) {
      V& looked = f(kAt.looked[kSlot]);
      const V looks = head_[kSlot] & ~looked;
      each<kShape.paths>([&](auto p) {
        constexpr int kPath = decltype(p)::value;
        if constexpr (kShape.path[kPath].slot == kSlot) {
          const V finds = looks & f(kAt.mask[kPath]);
          f(kAt.made[kPath]) |= finds;
          looked |= finds;
        }
      });
    }
  }
  template <class P>
  [[gnu::always_inline]] V wants(P /*path*/) {
    constexpr int kPath = P::value;
    constexpr int kSlot = kShape.path[kPath].slot;
    if constexpr (is_switched(kSlot)) {
      return f(kAt.made[kPath]);
    } else if constexpr (kShape.slot[kSlot].several) {
      return head_[kSlot] & f(kAt.mask[kPath]) & ~f(kAt.made[kPath]);
    } else if constexpr (kAt.paths_of[kSlot] > 1) {
      return head_[kSlot] & f(kAt.mask[kPath]);
    } else {
      return head_[kSlot];
    }
  }
  template <int kSlot, int kPort, int kTo>
  [[gnu::always_inline]] V room() {
    if constexpr (kPort == kRampPort) {
      constexpr int kClass = kShape.slot[kSlot].cls;
      return f(kAt.in_count[kClass]) < f(kAt.in_room[kClass]);
    } else {
      const std::uint64_t at = before_ + of(kTo);
      return load(m_.room + at + to_neighbour(kPort)) + load(m_.sent + at) > V{};
    }
  }
  template <int kPort>
  [[gnu::always_inline]] void contest() {
    constexpr int kNobody = 64;
    V& next = f(kAt.next[kPort]);
    const V turn = m_.turns ? next : V{};
    Table<V, kShape.paths> key = {};
    V best = all(kNobody);
    each<kShape.paths>([&](auto p) {
      constexpr int kPath = decltype(p)::value;
      if constexpr (kShape.path[kPath].port == kPort) {
        const V& color = f(kAt.color[kShape.path[kPath].slot]);
        key[kPath] = select(go_[kPath], (color - turn) & all(31), all(kNobody));
        best = select(key[kPath] < best, key[kPath], best);
      }
    });
    V open = ~V{};  // of equal colors the first port
    each<kShape.paths>([&](auto p) {
      constexpr int kPath = decltype(p)::value;
      if constexpr (kShape.path[kPath].port == kPort) {
        go_[kPath] &= (key[kPath] == best) & open;
        open &= ~go_[kPath];
        if (m_.turns) next = select(go_[kPath], f(kAt.color[kShape.path[kPath].slot]) + 1, next);
      }
    });
  }
  template <class S>
  [[gnu::always_inline]] void leave(S /*slot*/) {
    constexpr int kSlot = S::value;
    V made{};
    V left{};  // copies
    each<kShape.paths>([&](auto p) {
      constexpr int kPath = decltype(p)::value;
      if constexpr (kShape.path[kPath].slot == kSlot) {
        made |= go_[kPath];
        if constexpr (is_switched(kSlot)) {
          f(kAt.made[kPath]) &= ~go_[kPath];
          left |= f(kAt.made[kPath]);
        } else if constexpr (kShape.slot[kSlot].several) {
          f(kAt.made[kPath]) |= go_[kPath];
          left |= f(kAt.mask[kPath]) & ~f(kAt.made[kPath]);
        }
      }
    });
    if constexpr (is_switched(kSlot)) {
      leaves_[kSlot] = head_[kSlot] & f(kAt.looked[kSlot]) & ~left;
      f(kAt.looked[kSlot]) &= ~leaves_[kSlot];
    } else if constexpr (kShape.slot[kSlot].several) {
      leaves_[kSlot] = head_[kSlot] & made & ~left;
      each<kShape.paths>([&](auto p) {
        constexpr int kPath = decltype(p)::value;
        if constexpr (kShape.path[kPath].slot == kSlot) f(kAt.made[kPath]) &= ~leaves_[kSlot];
      });
    } else {
      leaves_[kSlot] = made;
    }
    reinterpret_cast<BufferCounts<V>&>(f(kAt.counts[kSlot]))
        .cycle(head_[kSlot], leaves_[kSlot], [&]() -> const V& { return f(kAt.seen[kSlot]); });
  }
  void choose_up() {
    constexpr int kNobody = 64;
    V best = all(kNobody);
    Table<V, kMostClasses> key = {};
    V& next = f(kAt.next_queue);
    each<kShape.classes>([&](auto c) {
      constexpr int kClass = decltype(c)::value;
      constexpr int kSlot = kAt.ramp_slot[kClass];
      if constexpr (kSlot != kNone) {
        const V can = (f(kAt.words[kClass]) > V{}) & (f(kAt.count[kSlot]) < capacity(kSlot));
        key[kClass] = select(can, (f(kAt.number[kClass]) - next) & all(31), all(kNobody));
        best = select(key[kClass] < best, key[kClass], best);
      }
    });
    const V none = best == all(kNobody);
    each<kShape.classes>([&](auto c) {
      constexpr int kClass = decltype(c)::value;
      if constexpr (kAt.ramp_slot[kClass] != kNone) {
        up_[kClass] = (key[kClass] == best) & ~none;
        next = select(up_[kClass], f(kAt.number[kClass]) + 1, next);
      }
    });
  }

  /// The main threads that something has happened to take their next step.
  void control() {
    V& delay = f(kAt.delay);
    delay += delay > V{};
    const V due = f(kAt.no_task) & f(kAt.full) & (delay == V{});
    const V looks = f(kAt.ask) | due | triggered();
    if (!any(looks)) return;
    moved_ = true;
    tell(Event::control, 0, looks);
  }

  /// Lanes in which a word may start a task.
  [[gnu::always_inline]] V triggered() {
    V words{};
    each<kShape.classes>([&](auto c) {
      constexpr int kClass = decltype(c)::value;
      if constexpr (is_trigger(kShape, kClass)) words |= f(kAt.in_seen[kClass]) > V{};
    });
    if constexpr (kShape.triggers == 0) return words;
    return words & f(kAt.picks);
  }

  template <class K>
  [[gnu::always_inline]] void may_issue(K /*context*/, const V& open) {
    constexpr int kContext = K::value;
    V fed = ~V{};
    V room = ~V{};
    each<kShape.uses>([&](auto u) {
      constexpr int kUse = decltype(u)::value;
      constexpr int kClass = kShape.use[kUse].cls;
      if constexpr (kShape.use[kUse].context == kContext) {
        if constexpr (kShape.use[kUse].out) {
          const V& need = f(kAt.need[kUse]);
          room &= (need == V{}) | (f(kAt.words[kClass]) + need <= f(kAt.out_room[kClass]));
        } else {
          fed &= f(kAt.in_seen[kClass]) >= f(kAt.need[kUse]);
        }
      }
    });
    has_[kContext] = f(kAt.left[kContext]) > V{};
    fed_[kContext] = fed;
    issued_[kContext] = has_[kContext] & fed & room & open;
  }

  void issue() {
    V& kept = f(kAt.kept);
    const V open = kept == V{};
    const V beside = m_.two ? ~V{} : open;
    others_ = V{};
    each<kShape.contexts>([&](auto k) {
      constexpr int kContext = decltype(k)::value;
      may_issue(k, kContext == 0 ? open : beside);
      if constexpr (kContext != 0) others_ |= issued_[kContext];
    });
    if (m_.context_turns) {
      choose_in_turn();
    } else {
      choose_in_order();
    }
    V others{};
    each<kShape.contexts>([&](auto k) {
      if constexpr (decltype(k)::value != 0) others |= issued_[decltype(k)::value];
    });
    kept_ = ~open;
    const V main = issued_[0] | kept_;
    if (m_.two) f(kAt.beside) -= others & main;
    kept += kept > V{};
    kept = select(issued_[0], f(kAt.extra), kept);
    const V fresh = (issued_[0] | others) & ~f(kAt.begun);
    if (any(fresh)) {
      f(kAt.begun) |= fresh;
      tell(Event::begins, 0, fresh);
    }
    const V busy = main | others;
    moved_ = moved_ || any(busy);
    wait(~busy);
  }
  /// Of two slots the main thread has one.
  [[gnu::always_inline]] bool shares(int context) const { return context != 0 || !m_.two; }
  void choose_in_order() {
    V taken{};
    each<kShape.contexts>([&](auto k) {
      constexpr int kContext = decltype(k)::value;
      if (kContext < m_.first || !shares(kContext)) return;
      issued_[kContext] &= ~taken;
      taken |= issued_[kContext];
    });
    each<kShape.contexts>([&](auto k) {
      constexpr int kContext = decltype(k)::value;
      if (kContext >= m_.first || !shares(kContext)) return;
      issued_[kContext] &= ~taken;
      taken |= issued_[kContext];
    });
  }
  void choose_in_turn() {
    Table<V, kShape.contexts> key = {};
    V& next = f(kAt.next_context);
    V best = all(64);
    each<kShape.contexts>([&](auto k) {
      constexpr int kContext = decltype(k)::value;
      key[kContext] = select(issued_[kContext], (all(kContext) - next) & all(31), all(64));
      if (!shares(kContext)) return;
      best = select(key[kContext] < best, key[kContext], best);
    });
    each<kShape.contexts>([&](auto k) {
      constexpr int kContext = decltype(k)::value;
      if (!shares(kContext)) return;
      issued_[kContext] &= key[kContext] == best;
      next = select(issued_[kContext], all(kContext + 1), next);
    });
  }
  /// Why lanes issue nothing: the first context with an instruction tells.
  void wait(const V& idle) {
    const V starting = f(kAt.no_task) & f(kAt.full) & (f(kAt.delay) > V{});
    V left = idle & ~starting;
    waits_in_ = waits_out_ = V{};
    each<kShape.contexts>([&](auto k) {
      constexpr int kContext = decltype(k)::value;
      waits_in_ |= left & has_[kContext] & ~fed_[kContext];
      waits_out_ |= left & has_[kContext] & fed_[kContext];
      left &= ~has_[kContext];
    });
    starts_ = (idle & starting) | (left & f(kAt.full));
    f(kAt.wait_in) -= waits_in_;
    f(kAt.wait_out) -= waits_out_;
    f(kAt.dispatch) -= starts_;
  }

  /// Words leave slots and queues and come into others.
  void move() {
    each<kMostSlots>([&](auto s) {
      constexpr int kSlot = decltype(s)::value;
      if constexpr (kSlot < kShape.slots && kShape.slot[kSlot].port != kRampPort) to_[kSlot] = V{};
    });
    Table<V, kMostClasses> down = {};
    V moves{};
    V held{};
    each<kShape.paths>([&](auto p) {
      constexpr int kPath = decltype(p)::value;
      constexpr int kSlot = kShape.path[kPath].slot;
      constexpr int kTo = kAt.to_slot[kPath];
      moves |= go_[kPath];
      f(kAt.gone[kPath]) -= go_[kPath];
      V tag{};
      if constexpr (is_switched(kSlot)) {
        tag = go_[kPath] & -(f(kAt.tags[kSlot]) & all(1));
        tell(Event::passes, kPath, tag);
      }
      if constexpr (kTo == kNone) {
        down[kShape.slot[kSlot].cls] |= go_[kPath];
      } else {
        to_[kTo] |= go_[kPath];
        if constexpr (is_switched(kTo)) to_tags_[kTo] |= tag;
      }
    });
    each<kShape.classes>([&](auto c) {
      constexpr int kClass = decltype(c)::value;
      if constexpr (kAt.to_core[kClass]) {
        f(kAt.in_flight[kClass]) |= down[kClass] & all(m_.core_bit);
        f(kAt.in_count[kClass]) -= down[kClass];
        held |= f(kAt.in_flight[kClass]);
      }
    });
    each<kShape.slots>([&](auto s) { held |= move_slot(s); });
    moved_ = moved_ || any(moves);
    m_.awake[index_] = any(held) ? 2 : m_.awake[index_] != 0 ? m_.awake[index_] - 1 : 0;
  }
  template <class S>
  [[gnu::always_inline]] V move_slot(S /*slot*/) {
    constexpr int kSlot = S::value;
    constexpr int kClass = kShape.slot[kSlot].cls;
    const V& leaves = leaves_[kSlot];
    V& count = f(kAt.count[kSlot]);
    f(kAt.seen[kSlot]) += leaves;
    count += leaves;
    if constexpr (is_switched(kSlot)) {
      V& tags = f(kAt.tags[kSlot]);
      V& tail = f(kAt.tail[kSlot]);
      const V told = leaves & -(tags & all(1));
      tags = select(leaves, (tags >> 1) & all(0x7F), tags);
      tail = select(leaves, (tail >> 1) & all(0x7F), tail);
      tell(Event::leaves, kSlot, told);
    }
    if constexpr (kShape.slot[kSlot].port == kRampPort) {
      const V& up = up_[kClass];
      f(kAt.flight[kSlot]) |= up & all(m_.ramp_bit);
      count -= up;
      if constexpr (is_switched(kSlot)) {
        V& tags = f(kAt.out_tags[kClass]);
        const V tag = up & -(tags & all(1));
        push_tag(kSlot, up, tag);
        tags = select(up, (tags >> 1) & all(0x7F), tags);
        tell(Event::goes_up, kClass, tag);
      }
      f(kAt.words[kClass]) += up;
      return count | f(kAt.words[kClass]);
    } else {
      store(m_.sent + here_ + of(kSlot), to_[kSlot]);
      if (any(to_[kSlot])) wake_next(kShape.slot[kSlot].port, to_[kSlot]);
      if constexpr (is_switched(kSlot)) {
        store(m_.sent_tags + here_ + of(kSlot), to_tags_[kSlot]);
      }
      store(m_.room + here_ + of(kSlot), capacity(kSlot) - count);
      return count | to_[kSlot];
    }
  }

  /// Words have been sent into slots behind that port of neighbours.
  void wake_next(int port, const V& words) {
    const std::uint32_t row = m_.blocks_of_row;
    const std::uint32_t at = index_ % row;
    std::uint8_t* const next = m_.comes + (now_ + 1) % 2 * m_.blocks;
    if (port == 0 && index_ + row < m_.blocks) next[index_ + row] = 1;
    if (port == kSouth && index_ >= row) next[index_ - row] = 1;
    if (port == 1 || port == 3) next[index_] = 1;
    if (port == 3 && words[W - 1] != 0 && at + 1 < row) next[index_ + 1] = 1;
    if (port == 1 && words[0] != 0 && at > 0) next[index_ - 1] = 1;
  }

  /// Beats have been issued.
  void apply() {
    V wakes{};
    each<kShape.uses>([&](auto u) {
      constexpr int kUse = decltype(u)::value;
      constexpr int kClass = kShape.use[kUse].cls;
      const V words = issued_[kShape.use[kUse].context] & f(kAt.need[kUse]);
      if constexpr (kShape.use[kUse].out) {
        f(kAt.words[kClass]) += words;
        wakes |= words;
      } else {
        f(kAt.in_seen[kClass]) -= words;
        f(kAt.in_count[kClass]) -= words;
        if constexpr (is_trigger(kShape, kClass))
          f(kAt.until[kClass]) -= words & f(kAt.told[kClass]);
      }
    });
    each<kShape.classes>([&](auto c) {
      constexpr int kClass = decltype(c)::value;
      if constexpr (is_trigger(kShape, kClass)) {
        tell(Event::reads, kClass, f(kAt.told[kClass]) & (f(kAt.until[kClass]) < V{}));
      }
    });
    if (any(wakes)) m_.awake[index_] = 2;
    each<kShape.contexts>([&](auto k) {
      constexpr int kContext = decltype(k)::value;
      V& left = f(kAt.left[kContext]);
      left += issued_[kContext];
      tell(Event::over, kContext, issued_[kContext] & (left == V{}));
    });
  }

  /// Sleeps if cycles like this one follow, in which nothing happens but beats on memory.
  void fall_asleep() {
    V stirs = f(kAt.ask) | f(kAt.delay) | f(kAt.kept) | kept_ | others_ | triggered();
    stirs |= f(kAt.full) & f(kAt.no_task);
    stirs |= issued_[0] & f(kAt.extra);
    each<kShape.uses>([&](auto u) {
      constexpr int kUse = decltype(u)::value;
      if constexpr (kShape.use[kUse].context == 0) stirs |= issued_[0] & f(kAt.need[kUse]);
    });
    if (any(stirs)) return;
    std::uint64_t until = kForGood;
    if (any(issued_[0])) {
      const V beats = select(issued_[0], f(kAt.left[0]), all(127));
      std::int8_t least = 127;
      for (unsigned lane = 0; lane < W; ++lane) least = beats[lane] < least ? beats[lane] : least;
      if (least < 2) return;
      until = now_ + static_cast<std::uint64_t>(least);
    }
    f(kAt.still_main) = issued_[0];
    f(kAt.still_in) = waits_in_;
    f(kAt.still_out) = waits_out_;
    f(kAt.still_dispatch) = starts_;
    m_.sleeps[index_] = {now_ + 1, until};
  }

  const Machine& m_;
  const std::uint64_t now_;
  const std::uint32_t index_;
  V* const fields_;
  const std::uint64_t place_;
  const std::uint64_t here_;    // of the planes of this cycle
  const std::uint64_t before_;  // and of the last
  bool moved_ = false;
  Table<V, kMostSlots> head_, leaves_, to_, to_tags_ = {};
  Table<V, kMostPaths> go_;
  Table<V, kMostClasses> up_;
  Table<V, kMostContexts> has_, fed_, issued_;
  V kept_;                           // the main thread's beat goes on
  V others_;                         // microthreads that could issue
  V waits_in_, waits_out_, starts_;  // why lanes issued nothing
};

}  // namespace lacuna::wse::lanes
