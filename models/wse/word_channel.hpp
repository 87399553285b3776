// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <systemc>
#include <vector>

#include "models/wse/wavelet.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/mix.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// The writer's end of a link between modules.
class WordPushIf : public virtual sc_core::sc_interface {
 public:
  virtual bool can_push(Cycle now, unsigned words) const = 0;
  /// Returns the cycle in which the word can be popped.
  virtual Cycle push(Cycle now, Wavelet word) = 0;
};

/// The reader's end.
class WordPopIf : public virtual sc_core::sc_interface {
 public:
  /// When the first word can be popped; kNever if there is none.
  virtual Cycle front_ready() const = 0;
  virtual bool has(Cycle now, unsigned words) const = 0;
  virtual const Wavelet& front() const = 0;
  virtual Wavelet pop(Cycle now) = 0;
};

/// What the modules of a wafer share: how many words are under way, how many cores have finished.
struct ModuleRun {
  ClockDomain* clock = nullptr;
  std::uint64_t words = 0;
  std::size_t cores = 0;
  std::size_t finished = 0;

  void stop_if_done(Cycle now) const {
    if (finished == cores && words == 0) clock->stop(now);
  }
};

/// A link between two modules of a wafer, with the contract of LinkArray. Its ports say whom to
/// wake.
class WordChannel final : public WordPushIf, public WordPopIf {
 public:
  WordChannel(ModuleRun& run, std::uint32_t id, unsigned capacity, Cycle latency)
      : run_(run), id_(id), capacity_(capacity), latency_(latency) {}
  WordChannel(const WordChannel&) = delete;
  WordChannel& operator=(const WordChannel&) = delete;

  void jitter(Cycle most, std::uint64_t seed) {
    jitter_ = most;
    seed_ = seed;
  }

  bool can_push(Cycle now, unsigned words) const override {
    return slots_.size() + (freed_in_ == now ? freed_ : 0) + words <= capacity_;
  }

  Cycle push(Cycle now, Wavelet word) override {
    assert(can_push(now, 1));
    Cycle ready = now + latency_;
    if (jitter_ != 0) {
      const std::uint64_t draw = mix(seed_ ^ mix((std::uint64_t{id_} << 32U) + pushed_++));
      ready = last_ready_ = std::max(last_ready_, ready + draw % (jitter_ + 1));
    }
    slots_.push_back({ready, word});
    ++run_.words;
    if (reader_ != nullptr) run_.clock->wake(*reader_, ready);
    return ready;
  }

  Cycle front_ready() const override { return slots_.empty() ? kNever : slots_.front().ready; }
  bool has(Cycle now, unsigned words) const override {
    return slots_.size() >= words && slots_[words - 1].ready <= now;
  }
  const Wavelet& front() const override { return slots_.front().word; }

  Wavelet pop(Cycle now) override {
    assert(front_ready() <= now);
    const Wavelet word = slots_.front().word;
    slots_.erase(slots_.begin());
    --run_.words;
    freed_ = (freed_in_ == now ? freed_ : 0) + 1;
    freed_in_ = now;
    if (writer_ != nullptr) run_.clock->wake(*writer_, now + 1);
    return word;
  }

 private:
  struct Slot {
    Cycle ready = 0;
    Wavelet word;
  };

  void register_port(sc_core::sc_port_base& port, const char* interface) override {
    const auto* const block = dynamic_cast<const Clocked*>(port.get_parent_object());
    const bool reads = std::string_view(interface) == typeid(WordPopIf).name();
    (reads ? reader_ : writer_) = block;
  }

  ModuleRun& run_;
  std::uint32_t id_;
  unsigned capacity_;
  Cycle latency_;
  Cycle jitter_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t pushed_ = 0;
  Cycle last_ready_ = 0;
  std::vector<Slot> slots_;  // a handful
  unsigned freed_ = 0;
  Cycle freed_in_ = kNever;
  const Clocked* writer_ = nullptr;
  const Clocked* reader_ = nullptr;
};

}  // namespace lacuna::wse
