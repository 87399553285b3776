// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/pe/issue.hpp"
#include "sim/base/parameter.hpp"

namespace lacuna::wse {

enum class Multicast { independent, lockstep };
enum class LinkLimit { link, ramp_up, both };
enum class RowOrder { ring, rotate, natural };
enum class Reduce { ring, chain, tree, two_phase, idealised };
enum class Exchange { product, next, idealised };
enum class Share { rows, tokens };
enum class Lie { side_by_side, interleaved };
enum class Copies { routed, idealised };
enum class Inject { column_top, middle_row, west_edge };
enum class GradientSums { kept, chained };
enum class KPartition { block, cyclic, balanced };
enum class IoStream { per_column, row_ordered };
enum class Modules { rows, per_core };
enum class IoDuplex { half, full };
enum class Precision { fp16, fp32 };
enum class MemoryModel { rule, none };
enum class Alignment { good, bad };
enum class IndexBits { automatic, none, sixteen };
enum class ResidentStorage { nonzeros, all };

struct WaferParams : ParameterSet {
  Param<unsigned> columns = param(this, "columns", 750U, range(1U, 4096U), "cores",
                                  "Width of the simulated rectangle (x, west to east).");
  Param<unsigned> rows = param(this, "rows", 994U, range(1U, 4096U), "cores",
                               "Height of the simulated rectangle (y, north to south).");
  Param<unsigned> program_columns =
      param(this, "program_columns", 750U, range(1U, 4096U), "cores",
            "Columns a program may use; the I/O of the wafer is shared among them.");
  Param<Modules> modules =
      param(this, "modules", Modules::rows,
            Choices<Modules>{{"rows", Modules::rows}, {"per_core", Modules::per_core}},
            "What is a SystemC module: all rows together, or each router and each core (up to 64 x "
            "64). The results are the same.");
  Param<unsigned> cores =
      param(this, "cores", 850000U, range(1U, 100000000U), "cores", "Cores of the whole product.");
};

struct CoreParams : ParameterSet {
  Param<unsigned> dispatch =
      param(this, "dispatch", 4U, range(0U, 1024U), "cycles",
            "From taking a wavelet out of its queue to the first issue of its instruction.");
  Param<unsigned> cmd_cycles = param(this, "cmd_cycles", 4U, range(0U, 1024U), "cycles",
                                     "From taking a command out of its queue to its effect.");
  Param<bool> dispatch_overlap =
      flag(this, "dispatch_overlap", true,
           "Take the next wavelet as soon as the previous instruction has become active.");
  Param<unsigned> init_cycles =
      param(this, "init_cycles", 0U, range(0U, 1000000U), "cycles",
            "From the start of the run; before, a core takes nothing out of its queue of weights.");
  Param<Sched> sched = param(this, "sched", Sched::ut_first, sched_choices(),
                             "Which context issues when main thread and microthread both could.");
  Param<unsigned> slots = param(this, "slots", 1U, range(1U, 2U), "slots",
                                "Issue slots: one that main thread and microthreads share, or two: "
                                "microthreads have one of their own (hypothetical hardware).");
  Param<bool> psum_cache =
      flag(this, "psum_cache", false,
           "Whether a vector of partial sums that fits the core's cache lies there, not in SRAM.");
  Param<unsigned> cache_bytes =
      param(this, "cache_bytes", 256U, range(0U, 65536U), "B", "The cache beside the datapath.");
  Param<unsigned> fabric_words_per_issue =
      param(this, "fabric_words_per_issue", 1U, range(1U, 2U), "words",
            "Wavelets that one issue slot takes from, or puts into, the fabric.");
  Param<bool> fabric_simd64 = flag(
      this, "fabric_simd64", true,
      "Whether a task's instruction may ask for the 64-bit mode of the fabric: two wavelets in "
      "an issue slot.");
};

struct QueueParams : ParameterSet {
  Param<std::string> in = text(this, "in", "6,6,4,4,2,2,2,2",
                               "Depths of a core's input queues, by number, in words. A stream of "
                               "weights and commands uses number 2, partial sums number 3.");
  Param<std::string> out = text(this, "out", "2,2,6,6,2,2",
                                "Depths of a core's output queues, by number, in words. Partial "
                                "sums use number 2.");

  std::vector<unsigned> in_depths() const { return depths("queue.in", in); }
  std::vector<unsigned> out_depths() const { return depths("queue.out", out); }

  /// Depths of the queues of a streamed product: weights and commands, partial sums that come in,
  /// and those that go out. ParameterError if a list ends before.
  unsigned stream() const { return depth("queue.in", in_depths(), 2); }
  unsigned sums_in() const { return depth("queue.in", in_depths(), 3); }
  unsigned sums_out() const { return depth("queue.out", out_depths(), 2); }

 private:
  static unsigned depth(const char* path, const std::vector<unsigned>& depths, std::size_t number);
  /// The numbers of a list; ParameterError if one is not a depth.
  static std::vector<unsigned> depths(const char* path, const std::string& list);
};

struct RouterParams : ParameterSet {
  Param<unsigned> entries =
      param(this, "entries", 2U, range(1U, 64U), "words", "Buffer of each input port and color.");
  Param<unsigned> hop =
      param(this, "hop", 1U, range(1U, 64U), "cycles", "Latency of a link between neighbours.");
  Param<unsigned> ramp = param(this, "ramp", 2U, range(1U, 64U), "cycles",
                               "Latency between router and core, each way.");
  Param<unsigned> ramp_in =
      param(this, "ramp_in", 0U, range(0U, 8U), "cycles",
            "Further latency of the ramp from router to core, as traces of messages show it.");
  Param<Multicast> multicast = param(this, "multicast", Multicast::independent,
                                     Choices<Multicast>{{"independent", Multicast::independent},
                                                        {"lockstep", Multicast::lockstep}},
                                     "Whether a word may win its outputs in different cycles.");
  Param<Arbiter> arbiter =
      param(this, "arbiter", Arbiter::round_robin, arbiter_choices(),
            "Which color wins an output port; oldest: the word that arrived first.");
  Param<unsigned> link_words =
      param(this, "link_words", 1U, range(1U, 64U), "words",
            "Words after which a direction of a link, an injector's too, is shut for a while.");
  Param<unsigned> link_cycles =
      param(this, "link_cycles", 1U, range(1U, 64U), "cycles",
            "Cycles in which link_words words pass: it is shut for link_cycles - link_words. Words "
            "are counted; idleness resets nothing.");
  Param<LinkLimit> link_limit = param(
      this, "link_limit", LinkLimit::link,
      Choices<LinkLimit>{
          {"link", LinkLimit::link}, {"ramp_up", LinkLimit::ramp_up}, {"both", LinkLimit::both}},
      "Where that holds: on links between routers, on the ramp from a core to its router, or "
      "on both.");
  Param<unsigned> turn =
      param(this, "turn", 0U, range(0U, 64U), "cycles",
            "Further latency of a word whose direction changes in a router; words follow each "
            "other as fast as before (fitted to whole routes on a chip: 20; its simulator: 33).");
  Param<unsigned> reconfig = param(this, "reconfig", 64U, range(0U, 65536U), "cycles",
                                   "For which a color lets nothing through after its teardown.");
};

inline IssueRule::IssueRule(const CoreParams& params)
    : IssueRule(params.sched.value(), params.slots) {}
inline ArbiterRule::ArbiterRule(const RouterParams& params) : ArbiterRule(params.arbiter.value()) {}

/// The ports of a core's memory, which a beat needs for as many cycles as its bits take. Reads and
/// writes overlap but for a share of the written bits, which find their bank busy with a read and
/// take the port as reads do (mem.write_share).
struct MemoryPorts {
  MemoryModel model = MemoryModel::none;
  std::uint32_t read_bits = 1;
  std::uint32_t write_bits = 1;
  std::uint32_t port_cycles = 1;     // in which they move so many bits once
  std::uint32_t write_share = 0;     // in parts of kShareParts
  std::uint32_t row_bytes = 0;       // that a port takes at once from one place; 0: any places
  std::uint32_t conflict_bytes = 8;  // after which the banks repeat for elements of 32 bits
  std::uint32_t write_lag = 0;       // beats from a read to the write of the same element; 0: off

  static constexpr std::uint32_t kShareParts = 3000;  // so that thirds and thousandths are exact

  /// Of a beat that reads and writes so many bits, 1 at least, and begins an instruction.
  std::uint32_t cycles(std::uint64_t read, std::uint64_t write) const {
    return cycles(0, 1, read, write);
  }
  /// Of the beat with elements [first, first + count) of an instruction, each of so many bits. With
  /// a write share parts of a cycle add up over its beats.
  std::uint32_t cycles(std::uint64_t first, std::uint64_t count, std::uint64_t read,
                       std::uint64_t write) const {
    if (model == MemoryModel::none) return 1;
    const std::uint64_t end = first + count;
    const std::uint64_t shared =
        shared_until(read * end, write * end) - shared_until(read * first, write * first);
    return std::max({1U, need(read * count, read_bits), need(write * count, write_bits),
                     static_cast<std::uint32_t>(shared)});
  }

  /// When reads and the share of writes of everything up to a place in an instruction, so many
  /// bits, have been through the port; 0 without a share or without both.
  std::uint64_t shared_until(std::uint64_t read, std::uint64_t write) const {
    if (write_share == 0 || read == 0 || write == 0) return 0;
    const std::uint64_t parts = (read * kShareParts + write * write_share) * port_cycles;
    const std::uint64_t port = std::uint64_t{read_bits} * kShareParts;
    return (parts + port - 1) / port;
  }

  std::uint32_t need(std::uint64_t bits, std::uint32_t port) const {
    return static_cast<std::uint32_t>((bits * port_cycles + port - 1) / port);
  }
};

struct MemoryParams : ParameterSet {
  MemoryPorts ports() const;

  Param<unsigned> kib = param(this, "kib", 48U, range(1U, 65536U), "KiB", "SRAM of a core.");
  Param<unsigned> read_bits =
      param(this, "read_bits", 128U, range(16U, 1024U), "bit", "Read from SRAM in one cycle.");
  Param<unsigned> write_bits =
      param(this, "write_bits", 64U, range(16U, 1024U), "bit", "Written to SRAM in one cycle.");
  Param<unsigned> port_cycles =
      param(this, "port_cycles", 1U, range(1U, 4096U), "cycles",
            "Cycles in which the ports move read_bits and write_bits once: a slower memory.");
  Param<unsigned> code_kib =
      param(this, "code_kib", 8U, range(0U, 65536U), "KiB", "SRAM that the program itself takes.");
  Param<MemoryModel> model =
      param(this, "model", MemoryModel::rule,
            Choices<MemoryModel>{{"rule", MemoryModel::rule}, {"none", MemoryModel::none}},
            "Bank conflicts by address, or none.");
  Param<unsigned> fma16_stalls =
      param(this, "fma16_stalls", 0U, range(0U, 8U), "cycles",
            "Residual stalls in 16 elements of an FP16 multiply-accumulate without conflict.");
  Param<unsigned> fma32_stalls =
      param(this, "fma32_stalls", 3U, range(0U, 8U), "cycles",
            "Residual stalls in 16 elements of an FP32 multiply-accumulate without conflict, of "
            "operands of one dimension.");
  Param<double> write_share =
      param(this, "write_share", 0.0, range(0.0, 1.0), "ratio",
            "Share of the bits an operation writes that find their bank busy with its reads and "
            "take a turn of the read port; fitted to three rates of a chip (inferred). 0: writes "
            "and reads overlap.");
  Param<unsigned> conflict_bytes = param(
      this, "conflict_bytes", 8U, range(8U, 16U), "B",
      "Bytes after which the banks repeat for elements of 32 bits: 16, two reads meet if "
      "what they take in a beat overlaps modulo 16; 8, they meet unless their offset is 4 "
      "modulo 8. Halves follow the latter rule always. With 16 operands of two dimensions have "
      "no residual stalls.");
  Param<unsigned> write_lag =
      param(this, "write_lag", 0U, range(0U, 8U), "beats",
            "From the read of an element to its write in an operation in place: the write takes a "
            "cycle of a bank that a read of the same operand asks for then. 0: off.");
  Param<unsigned> row_bytes =
      param(this, "row_bytes", 0U, range(0U, 64U), "B",
            "Bytes that a read takes from one place in a cycle, so that elements with a stride "
            "take more of them. 0: from any places (inferred from strided reads).");
};

struct SimdParams : ParameterSet {
  Param<unsigned> fma16 = param(this, "fma16", 4U, range(1U, 64U), "elements/cycle",
                                "FP16 multiply-accumulates into FP16 sums.");
  Param<unsigned> fma16_32 = param(this, "fma16_32", 2U, range(1U, 64U), "elements/cycle",
                                   "FP16 multiply-accumulates into FP32 sums.");
  Param<unsigned> fma32 = param(this, "fma32", 1U, range(1U, 64U), "elements/cycle",
                                "FP32 multiply-accumulates and multiplications.");
  Param<unsigned> int8 =
      param(this, "int8", 0U, range(0U, 64U), "elements/cycle",
            "INT8 multiply-accumulates into INT32 sums; 0: no such instruction.");
  Param<unsigned> add32 = param(this, "add32", 2U, range(1U, 64U), "elements/cycle",
                                "FP32 additions, subtractions and moves.");
  Param<unsigned> max16 =
      param(this, "max16", 1U, range(1U, 64U), "elements/cycle", "FP16 maxima.");
  Param<unsigned> max32 =
      param(this, "max32", 1U, range(1U, 64U), "elements/cycle", "FP32 maxima.");
  Param<unsigned> convert = param(this, "convert", 1U, range(1U, 64U), "elements/cycle",
                                  "Conversions between FP16 and FP32.");
  Param<unsigned> special_cycles = param(this, "special_cycles", 50U, range(1U, 1024U), "cycles",
                                         "Of a division or a special function, for each element.");
  Param<bool> by_rows =
      flag(this, "by_rows", false,
           "Whether a beat ends with a row of an operand of two dimensions (inferred from tiled "
           "stencils).");
  Param<unsigned> to_register =
      param(this, "to_register", 0U, range(0U, 8U), "cycles",
            "Of an element of an operation of one vector in memory whose result is a register: "
            "each waits for the last; a move takes one. 0: as if it went to memory.");
};

struct ScalarParams : ParameterSet {
  Param<unsigned> loop = param(this, "loop", 5U, range(0U, 256U), "cycles",
                               "Increment, test and branch of a loop in scalar code.");
  Param<unsigned> load = param(this, "load", 2U, range(0U, 256U), "cycles", "Load of a scalar.");
  Param<unsigned> imul =
      param(this, "imul", 8U, range(0U, 256U), "cycles", "Product that makes an address.");
  Param<unsigned> dsr_write = param(this, "dsr_write", 4U, range(0U, 256U), "cycles",
                                    "New base address in a data-structure register.");
  Param<unsigned> outer = param(this, "outer", 48U, range(0U, 4096U), "cycles",
                                "Iteration of an outer loop: pointers, set-up of the inner loop.");
  Param<unsigned> dependent = param(this, "dependent", 2U, range(1U, 8U), "cycles",
                                    "From a scalar instruction to one that needs its result.");
  Param<unsigned> branch_taken = param(this, "branch_taken", 6U, range(1U, 8U), "cycles",
                                       "From a branch that is taken to the next instruction.");
  Param<unsigned> branch_not =
      param(this, "branch_not", 3U, range(1U, 8U), "cycles", "The same of one that is not taken.");
};

/// What a tensor instruction of a compiled program costs to start, as probes of the vendor's
/// simulator count it (FABRICA WSE-3 characterization, sections 10d, 10i, 12c): a load for each
/// descriptor that no register holds, the wait for the last, and what lies between the end of an
/// instruction and the next load. Bare instructions cost 2 + 4 + 2 with two descriptors.
struct VectorParams : ParameterSet {
  Param<unsigned> setup_descriptor =
      param(this, "setup_descriptor", 1U, range(0U, 8U), "cycles",
            "Load of a descriptor that no register holds; an operand that is the result has none.");
  Param<unsigned> setup_use =
      param(this, "setup_use", 4U, range(0U, 8U), "cycles",
            "From the load of the last descriptor to the dispatch of the instruction.");
  Param<unsigned> setup_first = param(this, "setup_first", 4U, range(0U, 8U), "cycles",
                                      "From the dispatch to the first beat.");
  Param<unsigned> setup_next =
      param(this, "setup_next", 2U, range(0U, 8U), "cycles",
            "From the end of an instruction to the first load of the next one.");
  Param<unsigned> setup_scalar =
      param(this, "setup_scalar", 0U, range(0U, 16U), "cycles",
            "More for a source that is a number no register holds yet: it is brought into one.");
};

/// Tasks of compiled programs, beside core.dispatch.
struct TaskCostParams : ParameterSet {
  Param<unsigned> overhead =
      param(this, "overhead", 16U, range(0U, 32U), "cycles",
            "Start and end of a data task of a compiled program, core.dispatch included, besides "
            "its instructions; at most 15.8 on a chip.");
  Param<unsigned> completion =
      param(this, "completion", 0U, range(0U, 16U), "cycles",
            "From the end of an instruction to the begin of the task that waits for it. 0: as "
            "core.dispatch.");
};

/// Where zeros of a stream are left out.
enum class FilterAt { sender, receiver };

/// The comparison of a stream with zero, at its sender or where a core takes it from its ramp.
struct ZeroFilterParams : ParameterSet {
  Param<FilterAt> at = param(
      this, "at", FilterAt::sender,
      Choices<FilterAt>{{"sender", FilterAt::sender}, {"receiver", FilterAt::receiver}},
      "Where zeros are left out: by the sender, so that they cost nothing; or all travel, and each "
      "core's filter drops those that come up its ramp before they start a task.");
  Param<unsigned> scan_width =
      param(this, "scan_width", 0U, range(0U, 65536U), "positions",
            "Positions of a column's stream that its sender examines in a cycle, none after the "
            "first that is kept; 0: examining takes no time. Of streams out of which zeros are "
            "left, and not of gradients, whose positions are a list.");
};

struct StreamingParams : ParameterSet {
  static Choices<Precision> precisions() {
    return {{"fp16", Precision::fp16}, {"fp32", Precision::fp32}};
  }

  Param<unsigned> groups =
      param(this, "groups", 1U, range(1U, 256U), "groups",
            "Groups of columns that share a product (ws.share) and each add up sums by "
            "themselves; 1: all columns do.");
  Param<Share> share = param(
      this, "share", Share::rows, Choices<Share>{{"rows", Share::rows}, {"tokens", Share::tokens}},
      "What groups share: rows of the weights, each group has all tokens; or tokens, each "
      "group has all weights, copied to it if they are streamed (ws.copies). Of a gradient of "
      "weights: its rows; or tokens, of which each group makes a part of every sum. What stays "
      "in the cores of a group is held by every group.");
  Param<Lie> lie =
      param(this, "lie", Lie::side_by_side,
            Choices<Lie>{{"side_by_side", Lie::side_by_side}, {"interleaved", Lie::interleaved}},
            "Where groups lie: each in neighbouring columns, or columns that hold the same "
            "features in each group are neighbours, and the rings pass through each other.");
  Param<Copies> copies =
      param(this, "copies", Copies::routed,
            Choices<Copies>{{"routed", Copies::routed}, {"idealised", Copies::idealised}},
            "How a stream comes to all groups: it enters once, and rows of routers without tokens "
            "copy it; or idealised, entered anew in each group and paid for once, as no hardware "
            "does.");
  Param<Exchange> exchange = param(
      this, "exchange", Exchange::product,
      Choices<Exchange>{{"product", Exchange::product},
                        {"next", Exchange::next},
                        {"idealised", Exchange::idealised}},
      "When results of a group go to the others: while the product goes on, as part of it, "
      "or not in it: the operation after it finds each row in one group; or idealised, they are "
      "everywhere at once, as on no hardware.");
  Param<unsigned> buses =
      param(this, "buses", 2U, range(1U, 16U), "colors",
            "Colors on which a group sends its results, in each direction: each is a bus of so "
            "many of the group's columns.");
  Param<unsigned> lookahead =
      param(this, "lookahead", 8U, range(1U, 4096U), "vectors",
            "Partial-sum vectors of a core, the one being accumulated included.");
  Param<Precision> psum = param(this, "psum", Precision::fp16, precisions(),
                                "Type of partial sums in memory of FP16 products.");
  Param<Precision> ring = param(this, "ring", Precision::fp16, precisions(),
                                "Type of partial sums on the ring of FP16 products.");
  Param<Inject> inject = param(
      this, "inject", Inject::column_top,
      Choices<Inject>{{"column_top", Inject::column_top},
                      {"middle_row", Inject::middle_row},
                      {"west_edge", Inject::west_edge}},
      "Where the stream of a column enters: above its first row, or in its middle row, from where "
      "it runs north and south, or at the west edge, from where io.dist_rows rows of routers bring "
      "it to its column (inferred: the wiring of the edge is not published).");
  Param<Reduce> reduce = param(
      this, "reduce", Reduce::ring,
      Choices<Reduce>{{"ring", Reduce::ring},
                      {"chain", Reduce::chain},
                      {"tree", Reduce::tree},
                      {"two_phase", Reduce::two_phase},
                      {"idealised", Reduce::idealised}},
      "The way of partial sums along a row of cores to the column that keeps them: around a "
      "ring, or from both ends as a chain, a binomial tree, or chains of chains; or idealised, "
      "they are there at once and nothing travels, as on no hardware.");
  Param<RowOrder> row_order = param(
      this, "row_order", RowOrder::ring,
      Choices<RowOrder>{
          {"ring", RowOrder::ring}, {"rotate", RowOrder::rotate}, {"natural", RowOrder::natural}},
      "Order in which the rows of the weights are streamed.");
  Param<KPartition> k_partition = param(this, "k_partition", KPartition::block,
                                        Choices<KPartition>{{"block", KPartition::block},
                                                            {"cyclic", KPartition::cyclic},
                                                            {"balanced", KPartition::balanced}},
                                        "Which column owns which input features.");
  Param<GradientSums> gradient =
      param(this, "gradient", GradientSums::kept,
            Choices<GradientSums>{{"kept", GradientSums::kept}, {"chained", GradientSums::chained}},
            "Weight gradient: kept, dot products stay in memory and are added up down the columns "
            "after the stream; chained, as they are formed.");
  Param<unsigned> results =
      param(this, "results", 8U, range(1U, 4096U), "words",
            "Chained weight gradient: dot products of a core that wait for the chain.");
  Param<bool> zero_filter =
      flag(this, "zero_filter", true,
           "Whether zeros are left out. Off: zeros of sparse weights travel too. Gradients and "
           "products of masked activations are made whole.");
  Param<IndexBits> index_bits =
      param(this, "index_bits", IndexBits::automatic,
            Choices<IndexBits>{
                {"auto", IndexBits::automatic}, {"0", IndexBits::none}, {"16", IndexBits::sixteen}},
            "Index of a weight in a stream without zeros left out: 16 bits, or none and the order "
            "tells (two FP16 weights in a word); auto runs both and takes the faster.");
};

struct ResidentParams : ParameterSet {
  Param<ResidentStorage> storage =
      param(this, "storage", ResidentStorage::nonzeros,
            Choices<ResidentStorage>{{"nonzeros", ResidentStorage::nonzeros},
                                     {"all", ResidentStorage::all}},
            "What a core keeps of sparse resident weights: non-zeros by input feature, each with "
            "its place, or all elements, zeros included.");
  Param<unsigned> nonzero_cycles =
      param(this, "nonzero_cycles", 10U, range(1U, 256U), "cycles",
            "Issue slots that one kept non-zero takes: loop 5, load of value and place 2, load of "
            "the sum 2, multiply-accumulate and store 1.");
};

struct IoParams : ParameterSet {
  Param<unsigned> gbit = param(this, "gbit", 1200U, range(1U, 10000000U), "Gb/s",
                               "Rate at which the whole wafer takes in wavelets.");
  Param<double> share =
      param(this, "share", 0.0, range(0.0, 1.0), "",
            "Part of the wafer's I/O that the rectangle gets; 0: columns / program_columns.");
  Param<IoStream> stream = param(this, "stream", IoStream::per_column,
                                 Choices<IoStream>{{"per_column", IoStream::per_column},
                                                   {"row_ordered", IoStream::row_ordered}},
                                 "Whether each column has a stream of its own, or one stream in "
                                 "the order of rows fills a FIFO "
                                 "of each column; a full one holds it up.");
  Param<unsigned> column_fifo = param(this, "column_fifo", 16U, range(1U, 4096U), "words",
                                      "FIFO of a column, for stream = row_ordered.");
  Param<unsigned> dist_rows =
      param(this, "dist_rows", 0U, range(0U, 4096U), "rows",
            "Rows of routers that bring words from the west edge to their columns, for ws.inject = "
            "west_edge; their cores compute nothing. 0: as few as the colors allow.");
  Param<IoDuplex> duplex =
      param(this, "duplex", IoDuplex::half,
            Choices<IoDuplex>{{"half", IoDuplex::half}, {"full", IoDuplex::full}},
            "Whether words that leave share the rate with those that enter.");
};

struct MapParams : ParameterSet {
  Param<Alignment> align =
      param(this, "align", Alignment::good,
            Choices<Alignment>{{"good", Alignment::good}, {"bad", Alignment::bad}},
            "Whether partial sums and activations lie in different banks.");
};

/// What the hardware model itself needs; the planners' parameters are apart.
struct HardwareParams {
  CoreParams core;
  QueueParams queue;
  RouterParams router;
};

/// What cores that run tasks need.
struct TaskParams {
  CoreParams core;
  QueueParams queue;
  RouterParams router;
  MemoryParams mem;
  SimdParams simd;
  TaskCostParams task = {};
};

}  // namespace lacuna::wse
