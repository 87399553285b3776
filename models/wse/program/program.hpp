// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "models/common/fp16.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/column_groups.hpp"
#include "models/wse/program/exchange_plan.hpp"
#include "models/wse/program/held_elements.hpp"
#include "models/wse/program/routes.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// Words in rational arithmetic per cycle, for all injectors together. Unlimited if per == 0.
struct Rate {
  std::uint64_t words = 0;
  std::uint64_t per = 0;
};

/// The way of partial sums to the column that keeps them: what each column takes in and where it
/// sends. A core takes its inputs one after the other, an instruction each;
/// all but the last add them to its sums in memory, the last sends the total on or keeps it.
struct ReducePlan {
  struct Input {
    Color color{};
    std::uint16_t from = 0;  // the column that sends, of a group its place
  };
  struct Role {
    std::uint32_t first = 0;  // of its inputs
    std::uint8_t inputs = 0;
    bool keeps = false;
    Color out{};  // unless it keeps
  };

  std::vector<Role> roles;  // by column that keeps, and column
  std::vector<Input> inputs;

  bool idealised = false;  // sums are where they are kept once a row is closed; nothing travels

  const Role& role(std::size_t columns, std::size_t keeper, std::size_t column) const {
    return roles[keeper * columns + column];
  }
};

/// What the words of a stream hold.
enum class StreamForm : std::uint8_t {
  indexed,  // the index of the input feature above an FP16 or INT8 value
  packed,   // two FP16 or four INT8 values; the indices follow from the order
  wide,     // two words for each weight: its index, then an FP32 value
  plain,    // an FP32 value; the index follows from the order
};

/// How long the beats of an instruction of a stream take: as long as their elements need the ports
/// of memory. The last one may have fewer.
struct BeatTime {
  MemoryPorts ports;
  std::uint32_t read = 0;     // bits of an element
  std::uint32_t written = 0;  // the same
  std::uint32_t least = 1;    // cycles of a beat

  /// Of the beat with elements [first, first + count). None is longer than a whole first one.
  std::uint32_t cycles(std::uint32_t first, std::uint32_t count) const {
    return std::max(least, ports.cycles(first, count, read, written));
  }
  /// Of an instruction over so many elements, `simd` in a beat. 0: there is no such instruction.
  std::uint64_t cycles_of(std::uint32_t elements, std::uint32_t simd) const {
    if (simd == 0) return kNever;
    std::uint64_t sum = 0;
    for (std::uint32_t first = 0; first < elements; first += simd) {
      sum += cycles(first, std::min(simd, elements - first));
    }
    return sum;
  }
};

/// The task of a core in a streamed product. Each weight that arrives starts
/// psum += X[index] * w over the core's tokens; a command closes the row, and a microthread adds
/// the sums up along the ring. What is streamed may as well be activations, and what the core
/// holds its weights (`resident`).
struct StreamingKernel {
  Color weights{0};
  std::vector<Color> column_colors;  // of the weights, if those of columns differ
  std::uint32_t steps = 0;           // rows of the weight matrix, in the order they are streamed
  std::uint32_t instances = 1;       // of products, each with as many steps and features

  /// Each group of columns does a product of its own, of other rows of weights or other elements,
  /// in as many steps.
  ColumnGroups groups;
  std::uint8_t group_colors = 0;  // those of a group's sums are so many above the one's before
  ExchangePlan exchange;          // of results among groups

  std::uint32_t lookahead = 8;  // partial-sum vectors, the one in use included
  std::uint32_t simd = 4;       // elements of one beat
  StreamForm form = StreamForm::indexed;
  std::uint32_t ring_elements = 2;  // elements of one word on the ring
  bool fp32 = false;                // of weights and activations
  bool int8 = false;                // of weights and activations; sums are INT32, of 4 B as FP32
  bool psum_fp32 = false;
  bool psum_cached = false;  // the vector in use lies beside the datapath, not in SRAM
  bool ring_fp32 = false;
  BeatTime first_beats;             // of the first weight of a row, which overwrites
  BeatTime beats_that_add;          // of the others, which also read sums
  std::uint32_t reduce_cycles = 1;  // of a beat of a reduction
  std::uint32_t gather_cycles = 1;  // of one that writes sums back
  std::uint32_t stalls = 0;         // further cycles in 16 elements that read sums

  std::vector<std::uint32_t> tokens;        // of each row of cores
  std::vector<std::uint32_t> final_column;  // by step and group: the column that keeps the sum
  std::vector<std::uint32_t> ring;          // columns in the order of the ring; of groups' rings
  std::vector<std::uint32_t> counts;        // by step and column: weights
  std::vector<Color> ring_in;               // by column, of dY; unused if there is one column
  std::vector<Color> ring_out;              // by column
  ReducePlan reduce;                        // of a group, by places in it

  /// By column, for each of its words in the order they are sent, commands too: so many zeros are
  /// sent before it, which the filters at the ramps of the cores drop. Empty: none are sent.
  std::vector<std::vector<std::uint32_t>> zeros;

  /// The words of each column in the order they are sent, without commands and those zeros; empty
  /// if neither values are carried nor indices matter.
  std::vector<std::vector<std::uint32_t>> payloads;
  /// X of each core (row-major), one feature's tokens contiguous; empty without values.
  std::vector<std::vector<float>> activations;

  /// Of each core, if it holds only the elements that are not zero; then an element takes a beat of
  /// beats_that_add. Empty if it holds all.
  HeldElements held;

  std::uint32_t columns() const { return static_cast<std::uint32_t>(ring.size()); }
  /// The column of the same group as `column` with another place.
  std::uint32_t peer(std::uint32_t column, std::uint32_t place) const {
    return groups.column_of(groups.group_of(column), place);
  }
  /// The column that keeps the sums of a step of a column.
  std::uint32_t keeper(std::size_t step, std::uint32_t column) const {
    return groups.count == 1 ? final_column[step]
                             : final_column[step * groups.count + groups.group_of(column)];
  }
  /// What a column does for the reduction of a step that `keeper` keeps. Inputs are places in the
  /// group, colors those of the first group.
  const ReducePlan::Role& role(std::uint32_t keeper, std::uint32_t column) const {
    return reduce.role(groups.width, groups.place_of(keeper), groups.place_of(column));
  }
  /// The color of a role or an input of it in the group of `column`.
  Color sum_color(Color first, std::uint32_t column) const {
    const unsigned above = group_colors == 0 ? 0 : group_colors * groups.group_of(column);
    return Color{static_cast<std::uint8_t>(static_cast<unsigned>(first) + above)};
  }
  /// Of the weights of a column.
  Color stream_color(std::size_t column) const {
    return column_colors.empty() ? weights : column_colors[column];
  }
  std::uint32_t count(std::size_t step, std::size_t column) const {
    return counts[step * ring.size() + column];
  }
  /// The weights of a word, and the words of a weight.
  std::uint32_t weights_per_word() const { return form != StreamForm::packed ? 1 : int8 ? 4 : 2; }
  std::uint32_t words_per_weight() const { return form == StreamForm::wide ? 2 : 1; }
  /// The value in a 32-bit word, of several the i-th from the lowest bits on.
  float value(std::uint32_t word, std::uint32_t i = 0) const {
    if (int8) return static_cast<float>(static_cast<std::int8_t>(word >> (8U * i) & 0xffU));
    return to_float(static_cast<Half>(word >> (16U * i) & 0xffffU));
  }
  bool has_index() const { return form == StreamForm::indexed || form == StreamForm::wide; }
  /// The feature of the first weight of a row without indices: rows of an instance hold all.
  std::uint32_t first_feature(std::size_t step, std::size_t column) const {
    return static_cast<std::uint32_t>(step / (steps / instances)) * count(step, column);
  }
  std::uint32_t words_of(std::uint32_t count_of) const {
    return (count_of + weights_per_word() - 1) / weights_per_word() * words_per_weight();
  }
  std::uint32_t words(std::size_t step, std::size_t column) const {
    return words_of(count(step, column));
  }
  std::uint32_t element_bytes() const { return fp32 ? 4 : int8 ? 1 : 2; }
  /// Results of INT8 are the INT32 sums: what scales them is another operation.
  std::uint32_t output_bytes() const { return fp32 || int8 ? 4 : 2; }
  std::uint32_t sum_bytes() const { return psum_fp32 ? 4 : 2; }
  /// Of a beat of any kind.
  std::uint64_t most_cycles() const {
    return std::max({first_beats.cycles(0, simd), beats_that_add.cycles(0, simd), reduce_cycles,
                     gather_cycles, exchange.send_cycles, exchange.take_cycles});
  }
  /// Of an instruction over so many tokens.
  std::uint32_t beats(std::uint32_t tokens_of) const { return (tokens_of + simd - 1) / simd; }
  /// Whether cores with so many tokens take equal times for all they do.
  bool alike(std::uint32_t tokens_of, std::uint32_t others) const {
    return beats(tokens_of) == beats(others) && packed_words(tokens_of) == packed_words(others) &&
           first_beats.cycles_of(tokens_of, simd) == first_beats.cycles_of(others, simd) &&
           beats_that_add.cycles_of(tokens_of, simd) == beats_that_add.cycles_of(others, simd);
  }
  /// The words of a row of sums, of so many tokens, and those of them that a core has to move.
  std::uint32_t packed_words(std::uint32_t tokens_of) const {
    return (tokens_of + ring_elements - 1) / ring_elements;
  }
  std::uint32_t sum_words(std::uint32_t tokens_of) const {
    return reduce.idealised ? 0 : packed_words(tokens_of);
  }
  std::uint32_t zeros_before(std::size_t column, std::size_t word) const {
    return zeros.empty() || word >= zeros[column].size() ? 0 : zeros[column][word];
  }
  /// All zeros that are sent down a column.
  std::uint64_t zeros_of(std::size_t column) const {
    if (zeros.empty()) return 0;
    return std::accumulate(zeros[column].begin(), zeros[column].end(), std::uint64_t{0});
  }
};

/// The task of a core in a weight gradient, dW[i, j] = sum over tokens of dY[i, t] X[j, t] at the
/// positions that are kept. The stream says them row by row (StreamingKernel, whose words are
/// indices of features); dY of row i travels once around the ring of a row of cores, from the
/// column that owns it; a dot product of each position is added to a chain down the column, which
/// leaves the wafer in the south. A core adds to the chain as it has dot products, or,
/// if they are `kept`, once its stream and its ring are done.
struct GradientKernel {
  bool kept = false;
  bool begins_with_stream = false;  // a core sends dY from its first word on, not from cycle 0
  std::array<Color, 2> down{Color{5}, Color{6}};  // of the chain, from even and odd rows
  std::uint32_t results = 8;                      // dot products that wait for the chain
  std::uint32_t dot_cycles = 1;                   // of a beat
  std::uint32_t move_cycles = 1;                  // of a beat that takes or sends dY

  bool chains_on(Color color) const { return color == down[0] || color == down[1]; }

  /// By core, row-major; without values empty: dY of the rows its column owns, in their order.
  std::vector<std::vector<float>> gradients;
};

/// A way out of the wafer: words of `color` that the router at an edge sends to `port`.
struct Outlet {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  Port port = kSouth;
  Color color{};
};

/// Words of a color of their own that an injector sends down a column, whatever the kernel does.
struct Background {
  std::uint32_t column = 0;
  Color color{};
  std::uint32_t words = 0;
};

/// What a wafer executes: routes, queues, the kernel of its cores and what enters at the edge.
/// It knows cores and wavelets, no layers.
struct Program : Fabric {
  std::uint32_t entry = 0;       // row where the injectors are; from there words run to both ends
  Rate rate;                     // of the injectors
  std::uint32_t exit_words = 1;  // a word that leaves pays for so many
  StreamingKernel kernel;
  std::optional<GradientKernel> gradient;  // the cores run this one

  std::vector<Background> background;  // pays out of `rate` too
  std::vector<std::uint32_t> inlets;   // columns fed by a module outside, not by an injector
  std::vector<Outlet> outlets;         // to modules outside
  bool collects = false;               // the edge itself takes what comes to the outlets,
  bool full_duplex = false;            // at a rate of its own, not out of `rate`
  std::uint32_t column_fifo = 0;  // words, if one stream feeds all columns; 0: each has its own

  /// By column, for each word in the order they are sent, commands too: the cycles in which the
  /// sender looks for it, the one in which it can be sent included, after the word before. Empty:
  /// one each.
  std::vector<std::vector<std::uint16_t>> scan_cycles;

  /// The first rows may do nothing but bring words from an edge to their columns; the row after
  /// them is `entry`. From the west they enter in the row along which they run, from the north
  /// above the first.
  std::uint32_t distribution_rows = 0;
  bool from_north = false;
  std::vector<std::uint32_t> edge_row;  // of them, the row along which a column's words run
  /// By column, the one whose stream is copied to it there, by routers; empty: each has its own.
  std::vector<std::uint32_t> source;

  bool has_stream(std::size_t column) const {
    return column >= source.size() || source[column] == column;
  }

  /// Words run north and south from where they enter.
  bool both_ways() const { return entry != 0 && distribution_rows == 0; }

  /// Rows between the one where words enter and `row`, and the most of any row with tokens.
  std::uint32_t distance(std::size_t row) const {
    const auto at = static_cast<std::uint32_t>(row);
    return std::max(at, entry) - std::min(at, entry);
  }
  std::uint32_t farthest() const {
    if (rows == 0) return 0;
    return std::max(both_ways() ? entry : 0U, rows - 1 - entry);
  }
};

}  // namespace lacuna::wse
