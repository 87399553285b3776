// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <systemc>
#include <typeinfo>

#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/word_ports.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// What the modules of a wafer share: how many words are under way, how many cores have finished.
struct ModuleRun {
  ClockDomain* clock = nullptr;
  std::uint64_t words = 0;
  std::size_t cores = 0;
  std::size_t finished = 0;
  std::uint64_t to_enter = 0;  // words beside the streams that injectors have still to send

  bool done() const { return finished == cores && to_enter == 0; }
  void stop_if_done(Cycle now) const {
    if (done() && words == 0) clock->stop(now);
  }
};

/// A queue between two modules of a wafer, the link `id` of its mesh. Its ports say whom to wake.
class WordChannel final : public WordPushIf, public WordPopIf {
 public:
  WordChannel(ModuleRun& run, LinkId id, const QueueShape& shape) : run_(run), id_(id) {
    queue_.add(shape, kNoUnit, kNoUnit);
  }
  WordChannel(const WordChannel&) = delete;
  WordChannel& operator=(const WordChannel&) = delete;

  void jitter(Cycle most, std::uint64_t seed) { queue_.jitter(most, seed, id_); }

  bool can_push(Cycle now, unsigned words) const override { return queue_.can_push(0, now, words); }

  Cycle push(Cycle now, Wavelet word, Cycle more) override {
    const Cycle ready = queue_.push(0, now, word, more);
    ++run_.words;
    if (reader_ != nullptr) run_.clock->wake(*reader_, ready);
    return ready;
  }

  Cycle front_ready() const override { return queue_.front_ready(0); }
  bool has(Cycle now, unsigned words) const override { return queue_.has(0, now, words); }
  const Wavelet& front() const override { return queue_.front(0); }

  Wavelet pop(Cycle now) override {
    const Wavelet word = queue_.pop(0, now);
    --run_.words;
    if (writer_ != nullptr) run_.clock->wake(*writer_, now + kSlotFree);
    return word;
  }

 private:
  void register_port(sc_core::sc_port_base& port, const char* interface) override {
    const auto* const block = dynamic_cast<const Clocked*>(port.get_parent_object());
    const bool reads = std::string_view(interface) == typeid(WordPopIf).name();
    (reads ? reader_ : writer_) = block;
  }

  ModuleRun& run_;
  LinkId id_;
  Agendas nobody_;  // wakes the modules itself
  LinkArray queue_{nobody_};
  const Clocked* writer_ = nullptr;
  const Clocked* reader_ = nullptr;
};

}  // namespace lacuna::wse
