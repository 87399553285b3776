// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/ipu/bundle.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::ipu {

/// What a tile does with a cycle.
enum class Spend : std::uint8_t {
  worker,
  supervisor,
  exchange,
  port,
  sync,
  slot,
  conflict,
  port_wait,
  exchange_gap,
  barrier,
  exchange_tail,
  idle,
};
inline constexpr std::size_t kSpends = static_cast<std::size_t>(Spend::idle) + 1;

/// A tile's cycles by what it did with them.
class CycleAccount {
 public:
  std::uint64_t& operator[](Spend spend) { return cycles_.at(static_cast<std::size_t>(spend)); }
  std::uint64_t operator[](Spend spend) const {
    return cycles_.at(static_cast<std::size_t>(spend));
  }

  std::uint64_t total() const;

 private:
  std::array<std::uint64_t, kSpends> cycles_{};
};

/// Where the cycles of all tiles together went.
struct TileCycleStats : StatGroup {
  /// The cycles that are spent so.
  class Spent : public CycleCounter {
   public:
    Spent(TileCycleStats* group, Spend spend, const char* name, Layer layer, const char* doc)
        : CycleCounter(group, name, layer, doc) {
      group->spent_.at(static_cast<std::size_t>(spend)) = this;
    }
  };

 private:
  std::array<Counter*, kSpends> spent_{};  // before what enrols in it

 public:
  using StatGroup::StatGroup;
  Spent worker{this, Spend::worker, "worker", Layer::compute,
               "Cycles that issued a worker's bundle."};
  Spent supervisor{this, Spend::supervisor, "supervisor", Layer::compute,
                   "Cycles of supervisor work."};
  Spent exchange{this, Spend::exchange, "exchange", Layer::exchange,
                 "Cycles that sent or received a word of the exchange."};
  Spent port{this, Spend::port, "port", Layer::exchange,
             "Cycles that moved a word through the tile's own port."};
  Spent sync{this, Spend::sync, "sync", Layer::sync, "Cycles from the last arrival at a barrier."};
  Spent slot{this, Spend::slot, "slot", Layer::stall,
             "Cycles whose issue slot had no live worker while others ran."};
  Spent conflict{this, Spend::conflict, "conflict", Layer::stall,
                 "Cycles lost to memory elements with two accesses at once."};
  Spent port_wait{this, Spend::port_wait, "port_wait", Layer::stall,
                  "Cycles in which the tile's own port was not ready."};
  Spent exchange_gap{this, Spend::exchange_gap, "exchange_gap", Layer::stall,
                     "Cycles between the words of a tile in an exchange phase."};
  Spent barrier{this, Spend::barrier, "barrier", Layer::imbalance,
                "Cycles from a tile's arrival at a barrier, or its end, to the last tile's."};
  Spent exchange_tail{this, Spend::exchange_tail, "exchange_tail", Layer::imbalance,
                      "Cycles from a tile's last word to the end of the exchange phase."};
  Spent idle{this, Spend::idle, "idle", Layer::idle, "Cycles of tiles the program does not use."};

  void add(const CycleAccount& account);
};

/// What all tiles together did. Reads and writes are 64-bit accesses to tile memory.
struct TileWorkStats : StatGroup {
  /// What bundles do of this kind.
  class Tallied : public Counter {
   public:
    Tallied(TileWorkStats* group, Tally tally, const char* name, const char* unit, const char* doc,
            const char* action = nullptr)
        : Counter(group, name, unit, doc, action) {
      group->tallied_.at(static_cast<std::size_t>(tally)) = this;
    }
  };

 private:
  std::array<Counter*, kTallies> tallied_{};  // before what enrols in it

 public:
  using StatGroup::StatGroup;
  Counter mac_algorithmic{this, "mac_algorithmic", "MAC", "Products of the dense operation."};
  Counter mac_actual{this, "mac_actual", "MAC", "Products formed, with or without use."};
  Counter mac_zero{this, "mac_zero", "MAC", "Of these, products with a weight that is zero."};
  Counter mac_edge{this, "mac_edge", "MAC", "Of these, products outside the operation's shape."};
  Counter mac_gated{this, "mac_gated", "MAC", "Products gated off.", "mac_gated"};
  Counter mac_skipped{this, "mac_skipped", "MAC", "Products of the dense operation not formed."};

  Tallied amp_macs_fp16{this,  Tally::amp_mac_fp16,          "amp_macs_fp16",
                        "MAC", "Products of the AMP, fp16.", "amp_mac_fp16"};
  Tallied amp_macs_fp32{this,  Tally::amp_mac_fp32,          "amp_macs_fp32",
                        "MAC", "Products of the AMP, fp32.", "amp_mac_fp32"};
  Tallied amp_macs_fp8{this,  Tally::amp_mac_fp8,          "amp_macs_fp8",
                       "MAC", "Products of the AMP, fp8.", "amp_mac_fp8"};
  Tallied vec_macs_fp16{this,
                        Tally::mac_fp16,
                        "vec_macs_fp16",
                        "MAC",
                        "Multiply-accumulates of the vector unit, fp16.",
                        "mac_fp16_acc16"};
  Tallied vec_macs_fp32{this,
                        Tally::mac_fp32,
                        "vec_macs_fp32",
                        "MAC",
                        "Multiply-accumulates of the vector unit, fp32.",
                        "mac_fp32"};
  Tallied vec_add_fp16{this,         Tally::vec_add_fp16, "vec_add_fp16",
                       "operations", "Additions, fp16.",  "vec_add_fp16"};
  Tallied vec_add_fp32{this,         Tally::vec_add_fp32, "vec_add_fp32",
                       "operations", "Additions, fp32.",  "vec_add_fp32"};
  Tallied vec_mul_fp16{this,         Tally::vec_mul_fp16,      "vec_mul_fp16",
                       "operations", "Multiplications, fp16.", "vec_mul_fp16"};
  Tallied vec_mul_fp32{this,         Tally::vec_mul_fp32,      "vec_mul_fp32",
                       "operations", "Multiplications, fp32.", "vec_mul_fp32"};
  Tallied vec_int{this,     Tally::vec_int, "vec_int", "operations", "Integer operations on data.",
                  "vec_int"};
  Tallied vec_cvt{this, Tally::vec_cvt, "vec_cvt", "operations", "Conversions of type.", "vec_cvt"};
  Tallied sfu_fp16{this,      Tally::sfu_fp16, "sfu_fp16", "operations", "Special functions, fp16.",
                   "sfu_fp16"};
  Tallied sfu_fp32{this,      Tally::sfu_fp32, "sfu_fp32", "operations", "Special functions, fp32.",
                   "sfu_fp32"};
  Tallied meta_words{this,
                     Tally::meta_words,
                     "meta_words",
                     "words",
                     "16-bit words of meta-information interpreted.",
                     "meta_decode"};
  Tallied rounded_fp16{this, Tally::round_fp16, "rounded_fp16", "results",
                       "Results of arithmetic rounded to fp16."};
  Counter random_bits{this, "random_bits", "bits",
                      "Random bits drawn to round them: 32 each with round=stochastic."};

  Counter issues{this, "issues", "bundles", "Bundles of workers and supervisors.", "issue"};
  Counter ifetches{this, "ifetches", "accesses",
                   "64-bit instruction fetches that reach memory: one for four issues.", "ifetch"};

  Counter sram_reads{this, "sram_reads", "accesses", "Reads of tile memory, all classes."};
  Tallied sram_reads_weight{this,       Tally::read_weight,  "sram_reads_weight",
                            "accesses", "Reads of weights.", "sram_read"};
  Tallied sram_reads_input{this,       Tally::read_input,  "sram_reads_input",
                           "accesses", "Reads of inputs.", "sram_read"};
  Tallied sram_reads_output{this,       Tally::read_output,  "sram_reads_output",
                            "accesses", "Reads of outputs.", "sram_read"};
  Tallied sram_reads_partial{this,       Tally::read_partial,      "sram_reads_partial",
                             "accesses", "Reads of partial sums.", "sram_read"};
  Tallied sram_reads_metadata{this,       Tally::read_metadata,         "sram_reads_metadata",
                              "accesses", "Reads of meta-information.", "sram_read"};
  Counter sram_reads_transfer{this, "sram_reads_transfer", "accesses",
                              "Reads of words to be sent; priced with the sending."};
  Counter sram_reads_instruction{this, "sram_reads_instruction", "accesses",
                                 "Reads of instructions; priced as ifetches."};

  Counter sram_writes{this, "sram_writes", "accesses", "Writes of tile memory, all classes."};
  Tallied sram_writes_weight{this,       Tally::write_weight,  "sram_writes_weight",
                             "accesses", "Writes of weights.", "sram_write"};
  Tallied sram_writes_input{this,       Tally::write_input,  "sram_writes_input",
                            "accesses", "Writes of inputs.", "sram_write"};
  Tallied sram_writes_output{this,       Tally::write_output,  "sram_writes_output",
                             "accesses", "Writes of outputs.", "sram_write"};
  Tallied sram_writes_partial{this,       Tally::write_partial,      "sram_writes_partial",
                              "accesses", "Writes of partial sums.", "sram_write"};
  Tallied sram_writes_metadata{this,       Tally::write_metadata,         "sram_writes_metadata",
                               "accesses", "Writes of meta-information.", "sram_write"};
  Counter sram_writes_transfer{this, "sram_writes_transfer", "accesses",
                               "Writes of words received; priced with the receiving."};

  Counter exch_sent{this, "exch_sent", "words", "Words put on the exchange; a multicast once.",
                    "exch_send"};
  Counter exch_received{this, "exch_received", "words", "Words taken from the exchange.",
                        "exch_recv"};
  Counter exch_word_distance{this, "exch_word_distance", "words",
                             "Words carried across the exchange; a multicast once.", "exch_wire"};
  Counter exch_fragments{this, "exch_fragments", "fragments", "Fragments received."};
  Counter exch_conflicts{this, "exch_conflicts", "cycles",
                         "Cycles of tiles that send a word from the element of plain memory they "
                         "write a received one into."};
  Counter port_sent{this, "port_sent", "words", "Words pushed into tile ports."};
  Counter port_received{this, "port_received", "words", "Words popped from tile ports."};
  Counter syncs{this, "syncs", "passes", "Tiles times barriers.", "sync_tile"};
  Counter busy_cycles{this, "busy_cycles", "cycles", "Cycles of compute, over all tiles."};
  Counter idle_cycles{this, "idle_cycles", "cycles", "All other cycles, over all tiles."};
  Counter bytes_sram_read{this, "bytes_sram_read", "B",
                          "Bytes read from tile memory by loads and sends; instructions come in by "
                          "a port of their own (ifetches)."};
  Counter bytes_sram_written{this, "bytes_sram_written", "B", "Bytes written to tile memory."};
  Counter bytes_exchanged{this, "bytes_exchanged", "B", "Bytes taken from the exchange."};

  /// Adds what `times` bundles of this kind did.
  void add(const Bundle& bundle, std::uint64_t times);

  /// Computes the counters that follow from others. InternalError if one cannot be.
  void derive();
};

}  // namespace lacuna::ipu
