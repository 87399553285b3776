// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "tests/support/wse/oracle/kernel_core.hpp"

namespace lacuna::wse::oracle {

/// A core of a weight gradient (doc/model/wafer_gradient.md).
class GradientCore final : public KernelCore {
 public:
  GradientCore(const CoreParams& params, const StreamingKernel& stream,
               const GradientKernel& kernel, std::uint32_t unit, std::uint32_t row,
               std::uint32_t column);

  void cycle(Cycle now, std::vector<Event>& log) override;
  bool is_finished() const override { return finished_; }

 private:
  enum Context : unsigned { kMain, kChain, kTake, kSend, kContexts };

  /// dY of a row.
  struct Row {
    bool own = false;
    std::vector<float> dy;
  };

  void begin_rows(Cycle now);
  void run_main_thread(Cycle now, std::vector<Event>& log);
  bool takes_effect() const;
  void release();
  void progress(Cycle now);
  bool goes_on(std::uint32_t step) const;
  std::uint32_t words() const;
  std::uint32_t beat(std::uint32_t done) const;
  bool can(unsigned context, Cycle now) const;
  bool can_send() const;
  bool may_chain() const;
  void issue(Cycle now, std::vector<Event>& log);
  Cycle& microthreads_free() { return slot_free_.at(params_.slots == 2U ? 1 : 0); }
  void take_beat(Cycle now, std::vector<Event>& log);
  void send_beat(Cycle now);
  void chain_beat(Cycle now, std::vector<Event>& log);
  float dot(std::uint32_t feature) const;
  CoreCycle why_nothing(Cycle now) const;
  std::uint32_t tokens() const { return stream_.tokens[row_]; }
  bool has_values() const { return !kernel_.gradients.empty(); }
  Color to_south() const { return kernel_.down.at(row_ % 2); }
  Color from_north() const { return kernel_.down.at((row_ + 1) % 2); }
  bool has_north() const;
  bool has_ring() const { return stream_.groups.width > 1; }
  std::uint32_t keeper(std::uint32_t step) const;

  const StreamingKernel& stream_;
  const GradientKernel& kernel_;
  std::vector<Row> rows_;        // by step
  std::uint32_t free_ = 0;       // vectors for dY of other columns' rows
  std::uint32_t releasing_ = 0;  // free from the next cycle on
  bool started_ = false;         // takes and sends dY
  std::uint32_t closed_ = 0;     // rows whose indices are done,
  std::uint32_t taken_ = 0;      // whose dY is here,
  std::uint32_t sent_ = 0;       // has gone on if it has to,
  std::uint32_t released_ = 0;   // and whose vector has been given back
  bool taking_ = false;
  std::uint32_t words_taken_ = 0;
  std::uint32_t words_sent_ = 0;

  std::uint32_t beats_ = 0;  // of the dot product
  Cycle dot_over_ = 0;
  std::array<Cycle, 2> slot_free_{};  // the second of microthreads, if there are two
  std::uint32_t results_ = 0;         // dot products for the chain
  std::deque<float> products_;        // their values
  std::uint64_t expected_ = 0;
  std::uint64_t chained_ = 0;
  bool finished_ = false;
};

}  // namespace lacuna::wse::oracle
