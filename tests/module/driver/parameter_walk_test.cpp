// SPDX-License-Identifier: Apache-2.0
// Every parameter does something: moved, it changes cycles, bytes or joules of a case it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/wafer_system_report.hpp"
#include "sim/driver/validate/inference.hpp"
#include "sim/driver/validate/probes.hpp"
#include "tests/support/driver/real_program.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna::test {
namespace {

/// What a parameter moves at least: cycles; bytes of memory, fabric or edge; joules; the time and
/// the bytes of the host, which are statistics; or, of limits of memory, whether there is a result.
enum class Moves { cycles, bytes, joules, host, fits };

struct Step {
  const char* path;
  const char* value;  // that it is moved to
  const char* what;   // a row of kCases
  Moves moves;
  std::vector<std::string> with = {};  // settings of both runs
};

/// A machine, and a row of a trace after its id.
struct Case {
  const char* machine;
  std::vector<std::string> settings;
  const char* row;
  const char* x = ",";  // x_pattern,x_density
};

// op,phase,m,k,n,batch,dtype,fn,args,pattern,density,block,mode,residency
const std::map<std::string, Case>& cases() {
  const std::vector<std::string> tiles = {"ipu.tiles=16"};
  const std::vector<std::string> cores = {"wafer.columns=8", "wafer.rows=8"};
  const std::vector<std::string> chip_cores = {"chip.wafer.columns=8", "chip.wafer.rows=8"};
  const std::vector<std::string> twice = {chip_cores[0], chip_cores[1], "steps=2"};
  static const std::map<std::string, Case> all = {
      {"dense", {"bow", tiles, "gemm,fwd,128,128,64,1,fp16,,,,,,,"}},
      {"dense32", {"bow", tiles, "gemm,fwd,128,128,64,1,fp32,,,,,,,"}},
      {"dense8", {"c600", tiles, "gemm,fwd,128,128,64,1,fp8,,,,,,,"}},
      {"large", {"bow", tiles, "gemm,fwd,1024,1024,512,1,fp16,,,,,,,"}},
      {"buckets", {"bow", tiles, "gemm,fwd,512,512,256,1,fp16,,,block,0.3,16,dynamic,"}},
      {"too large", {"bow", tiles, "gemm,fwd,512,512,2048,1,fp16,,,block,0.1,16,static,"}},
      {"deep", {"bow", tiles, "gemm,fwd,16,8192,4,1,fp16,,,,,,,"}},
      {"staged", {"bow", {"ipu.tiles=64"}, "gemm,fwd,256,2048,64,1,fp16,,,,,,,"}},
      {"elements", {"bow", tiles, "gemm,fwd,256,256,64,1,fp16,,,unstructured,0.2,,static,"}},
      {"blocks", {"bow", tiles, "gemm,fwd,256,256,256,1,fp16,,,block,0.25,16,static,"}},
      {"small blocks", {"bow", tiles, "gemm,fwd,512,512,16,1,fp16,,,block,0.1,8,static,"}},
      {"many blocks", {"bow", tiles, "gemm,fwd,1024,1024,64,1,fp16,,,block,0.1,8,static,"}},
      {"dynamic", {"bow", tiles, "gemm,fwd,256,256,64,1,fp16,,,block,0.25,8,dynamic,"}},
      {"zeros", {"bow", tiles, "gemm,fwd,64,128,16,1,fp16,,,,,,,", "bernoulli,0.2"}},
      {"store", {"cs2x4", chip_cores, "gemm,fwd,64,64,64,1,fp16,,,unstructured,0.2,,,"}},
      {"large store", {"cs2x4", twice, "gemm,fwd,512,512,64,1,fp16,,,unstructured,0.5,,,"}},
      {"trained", {"cs2x4", chip_cores, "sddmm,bwd,64,64,64,1,fp16,,,unstructured,0.2,,,"}},
      {"streamed", {"wse2", cores, "gemm,fwd,64,64,64,1,fp16,,,unstructured,0.2,,,streamed"}},
      {"thin", {"wse2", cores, "gemm,fwd,256,256,64,1,fp16,,,unstructured,0.05,,,streamed"}},
      {"wide", {"wse2", cores, "gemm,fwd,64,64,256,1,fp16,,,,,,,streamed"}},
      {"full", {"wse2", cores, "gemm,fwd,512,512,512,1,fp16,,,,,,,streamed"}},
      {"software full", {"wse2", cores, "gemm,fwd,256,256,64,1,fp32,,,unstructured,0.9,,dynamic,"}},
      {"all", {"wse2", cores, "gemm,fwd,64,64,64,1,fp16,,,,,,,streamed"}},
      {"all32", {"wse2", cores, "gemm,fwd,64,64,64,1,fp32,,,,,,,streamed"}},
      {"all8", {"wse3", cores, "gemm,fwd,64,64,256,1,int8,,,,,,,streamed"}},
      {"resident", {"wse2", cores, "gemm,fwd,64,64,64,1,fp16,,,unstructured,0.2,,static,"}},
      {"software", {"wse2", cores, "gemm,fwd,64,64,32,1,fp32,,,unstructured,0.2,,dynamic,"}},
      {"gradient", {"wse2", cores, "sddmm,bwd,64,64,64,1,fp16,,,unstructured,0.2,,,"}},
      {"softmax", {"wse2", cores, "softmax,fwd,64,,64,1,fp16,,,,,,,"}},
      {"softmax32", {"wse2", cores, "softmax,fwd,64,,64,1,fp32,,,,,,,"}},
      {"ring", {"wse2", cores, "allreduce,fwd,256,,,1,fp32,ring,ranks=8;rows=1,,,,,"}},
      {"free", {"wse2", cores, "gemm,fwd,64,64,64,1,fp16,,,,,,,"}},
      {"measured ring", {"wse3", cores, "allreduce,fwd,256,,,1,fp32,ring,ranks=8;rows=1,,,,,"}},
      {"gemv", {"wse2", cores, "gemv,fwd,64,64,,1,fp16,,,,,,,"}},
      {"stencil", {"wse2", cores, "stencil,fwd,16,,,1,fp32,,,,,,,"}},
      {"rows", {"wse2", cores, "gemm,fwd,256,256,64,1,fp16,,,rows,0.1,,,streamed"}},
      {"two ways", {"wse2", cores, "gemm,fwd,128,128,64,1,fp16,,,unstructured,0.2,,,streamed"}},
  };
  return all;
}

const std::vector<Step>& steps() {
  using M = Moves;
  static const std::vector<Step> all = {
      // IPU
      {"ipu:clock", "3.7", "dense", M::joules},
      {"ipu:ipu.tiles", "32", "dense", M::cycles},
      {"ipu:ipu.rows", "1", "dense", M::cycles},
      {"ipu:tile.workers", "12", "dense", M::cycles},
      {"ipu:tile.issue_interval", "12", "dense", M::cycles},
      {"ipu:tile.launch", "22", "dense", M::cycles},
      {"ipu:tile.memory.kib", "420", "large", M::cycles},
      {"ipu:tile.memory.element.kib", "32", "dense", M::joules},
      {"ipu:tile.memory.element.plain_kib", "1664", "dense", M::cycles},
      {"ipu:tile.memory.load_bytes", "8", "blocks", M::cycles},
      {"ipu:tile.memory.store_bytes", "4", "dense", M::cycles},
      {"ipu:tile.amp.fp16_macs", "128", "dense", M::cycles},
      {"ipu:tile.amp.fp16_fp32_macs", "64", "dense", M::cycles, {"planner.partials=fp32"}},
      {"ipu:tile.amp.fp32_macs", "32", "dense32", M::cycles},
      {"ipu:tile.amp.fp8_macs", "64", "dense8", M::cycles},
      {"ipu:tile.amp.weight_bytes", "4", "dense", M::cycles},
      {"ipu:tile.amp.weight_bytes", "4", "blocks", M::cycles},
      {"ipu:tile.amp.weight_bytes", "16", "dense", M::cycles},
      {"ipu:tile.amp.depth", "2", "dense", M::cycles},
      {"ipu:tile.amp.depth", "2", "blocks", M::cycles},
      {"ipu:tile.amp.column_bytes", "16", "dense", M::cycles},
      {"ipu:tile.amp.input_bytes",
       "16",
       "dense",
       M::cycles,
       {"tile.amp.depth=8", "tile.memory.load_bytes=32", "tile.memory.store_bytes=16"}},
      {"ipu:tile.amp.latency", "4", "dense", M::cycles},
      {"ipu:tile.amp.latency", "4", "blocks", M::cycles},
      {"ipu:exchange.entry", "120", "dense", M::cycles},
      {"ipu:exchange.latency", "constant", "dense", M::cycles},
      {"ipu:exchange.constant_latency", "60", "dense", M::cycles, {"exchange.latency=constant"}},
      {"ipu:exchange.control_events", "6", "elements", M::cycles},
      {"ipu:exchange.paired", "false", "dense", M::cycles},
      {"ipu:exchange.paired_words", "512", "dense", M::cycles},
      {"ipu:sync.cycles", "300", "dense", M::cycles},
      {"ipu:planner.available_memory", "0.15", "buckets", M::fits},
      {"ipu:planner.serial_columns", "true", "too large", M::fits},
      {"ipu:planner.bucket_oversize", "0.1", "dynamic", M::cycles},
      {"ipu:planner.partials", "fp32", "dense", M::cycles},
      {"ipu:planner.one_stage_depth", "30", "deep", M::cycles},
      {"ipu:planner.two_stage_depth", "1", "deep", M::cycles},
      {"ipu:planner.staged_estimate", "false", "staged", M::cycles},
      {"ipu:planner.fast_reduce", "true", "staged", M::cycles},
      {"ipu:planner.long_fp32_passes", "false", "dense32", M::cycles},
      {"ipu:planner.lone_pairs", "false", "elements", M::cycles},
      {"ipu:planner.order_elements", "false", "elements", M::cycles},
      {"ipu:planner.copy_sums", "false", "elements", M::cycles},
      {"ipu:planner.few_workers", "false", "elements", M::cycles},
      {"ipu:planner.long_sums", "false", "elements", M::cycles},
      {"ipu:planner.short_pairs", "false", "elements", M::cycles},
      {"ipu:planner.single_step", "false", "elements", M::cycles},
      {"ipu:planner.sums", "home", "blocks", M::cycles},
      {"ipu:planner.sums_delay", "2000", "blocks", M::cycles},
      {"ipu:planner.static_parts", "1", "elements", M::cycles},
      {"ipu:planner.static_bands", "1", "many blocks", M::cycles},
      {"ipu:planner.dense_columns", "16", "dense", M::cycles},
      {"ipu:planner.dense_rows", "4", "dense", M::cycles},
      {"ipu:planner.dense_contraction", "8", "dense", M::cycles},
      {"ipu:planner.dense_row_steps", "2", "dense", M::cycles},
      {"ipu:planner.dense_column_steps", "2", "dense", M::cycles},
      {"ipu:planner.dynamic_columns", "16", "dynamic", M::cycles},
      {"ipu:planner.dynamic_rows", "16", "dynamic", M::cycles},
      {"ipu:planner.dynamic_contraction", "16", "dynamic", M::cycles},
      {"ipu:activations.encode", "host", "zeros", M::cycles, {"activations.encode=device"}},
      {"ipu:activations.test", "20", "zeros", M::cycles, {"activations.encode=device"}},
      {"ipu:activations.keep", "40", "zeros", M::cycles, {"activations.encode=device"}},
      {"ipu:activations.place", "80", "zeros", M::cycles, {"activations.encode=device"}},
      {"ipu:host.format", "coo", "dynamic", M::host},
      {"ipu:host.link_gbs", "1", "dynamic", M::joules},
      {"ipu:host.block_ns", "950", "dynamic", M::host},
      {"ipu:host.byte_ns", "5.4", "dynamic", M::host},
      {"ipu:host.coo_ns", "200", "dynamic", M::host, {"host.format=coo"}},
      {"ipu:host.overlap", "false", "dynamic", M::host},
      {"ipu:host.products", "8", "dynamic", M::host},
      {"ipu:energy.node", "n16", "dense", M::joules},
      {"ipu:energy.vdd_squared", "1.5", "dense", M::joules},
      {"ipu:energy.chip_units", "2944", "dense", M::joules},
      {"ipu:energy.area_calibration", "2", "dense", M::joules},
      {"ipu:energy.distance_mm", "34.4", "dense", M::joules},
      {"ipu:energy.peak_macs", "128", "dense", M::joules},
      {"ipu:energy.calibration", "2", "dense", M::joules},
      // wafer
      {"wse:target", "simfabric", "measured ring", M::cycles},
      {"wse:clock", "1.7", "streamed", M::cycles},
      {"wse:wafer.columns", "4", "streamed", M::cycles},
      {"wse:wafer.rows", "4", "streamed", M::cycles},
      {"wse:wafer.program_columns", "1500", "streamed", M::cycles},
      {"wse:core.dispatch", "8", "streamed", M::cycles},
      {"wse:core.cmd_cycles", "8", "streamed", M::cycles},
      {"wse:core.dispatch_overlap", "false", "streamed", M::cycles},
      {"wse:core.init_cycles", "5000", "streamed", M::cycles},
      {"wse:core.sched", "main_first", "streamed", M::cycles},
      {"wse:core.slots", "2", "streamed", M::cycles},
      {"wse:core.psum_cache", "true", "streamed", M::bytes},
      {"wse:core.cache_bytes", "8", "streamed", M::bytes, {"core.psum_cache=true"}},
      {"wse:core.fabric_words_per_issue", "2", "streamed", M::cycles},
      {"wse:core.fabric_simd64", "false", "ring", M::joules},
      {"wse:queue.in", "6,6,1,4", "thin", M::cycles},
      {"wse:queue.in", "6,6,4,1", "streamed", M::cycles},
      {"wse:queue.out", "2,2,48,6,2,2", "streamed", M::joules},
      {"wse:queue.in", "2,2,2,2,2,2,2,2", "ring", M::cycles},
      {"wse:queue.out", "2,2,2,2,2,2", "ring", M::cycles},
      {"wse:router.entries", "1", "streamed", M::cycles},
      {"wse:router.hop", "2", "streamed", M::cycles},
      {"wse:router.ramp", "4", "streamed", M::cycles},
      {"wse:router.ramp_in", "1", "streamed", M::cycles},
      {"wse:router.multicast",
       "lockstep",
       "two ways",
       M::cycles,
       {"ws.inject=middle_row", "queue.in=6,6,1,4", "io.gbit=1000000", "io.share=1"}},
      {"wse:router.arbiter", "fixed", "gemv", M::cycles},
      {"wse:router.turn", "8", "streamed", M::cycles, {"ws.inject=west_edge"}},
      {"wse:router.link_words", "2", "streamed", M::cycles, {"router.link_cycles=4"}},
      {"wse:router.link_cycles", "3", "streamed", M::cycles},
      {"wse:router.link_limit", "ramp_up", "streamed", M::cycles, {"router.link_cycles=4"}},
      {"wse:mem.write_share", "1", "ring", M::cycles, {"mem.read_bits=64"}},
      {"wse:mem.write_lag", "3", "software", M::cycles, {"kernel.spmm_format=dense"}},
      {"wse:mem.conflict_bytes", "16", "stencil", M::cycles},
      {"wse:mem.kib", "96", "streamed", M::joules},
      {"wse:mem.code_kib", "32", "full", M::fits},
      {"wse:mem.read_bits", "16", "streamed", M::cycles},
      {"wse:mem.write_bits", "32", "streamed", M::cycles},
      {"wse:mem.port_cycles", "2", "streamed", M::cycles},
      {"wse:mem.model", "none", "all32", M::cycles},
      {"wse:mem.fma16_stalls", "4", "wide", M::cycles},
      {"wse:mem.fma32_stalls", "6", "all32", M::cycles},
      {"wse:simd.fma16", "8", "streamed", M::joules},
      {"wse:simd.fma16_32", "1", "all", M::cycles, {"ws.psum=fp32"}},
      {"wse:simd.fma32", "2", "all32", M::cycles},
      {"wse:simd.int8", "1", "all8", M::cycles},
      {"wse:simd.add32", "1", "ring", M::joules},
      {"wse:simd.max16", "2", "softmax", M::cycles},
      {"wse:simd.max32", "2", "softmax32", M::cycles},
      {"wse:simd.convert", "2", "softmax", M::cycles},
      {"wse:simd.special_cycles", "100", "softmax", M::cycles},
      {"wse:scalar.loop", "10", "software", M::cycles},
      {"wse:scalar.load", "4", "software", M::cycles},
      {"wse:scalar.imul", "16", "software", M::cycles},
      {"wse:scalar.dsr_write", "8", "software", M::cycles},
      {"wse:scalar.vec_issue", "12", "software", M::cycles},
      {"wse:scalar.outer", "96", "software", M::cycles},
      {"wse:kernel.spmm_format", "coo", "software", M::cycles},
      {"wse:kernel.spmm_phases", "local", "software", M::cycles},
      {"wse:kernel.gemm", "mesh", "free", M::cycles},
      {"wse:kernel.code_kib", "30", "software full", M::fits},
      {"wse:kernel.protocol_cycles", "100", "software", M::cycles},
      {"wse:kernel.stencil", "five_points", "stencil", M::cycles},
      {"wse:kernel.iterations", "2", "stencil", M::cycles},
      {"wse:kernel.gemv_reduce", "chain", "gemv", M::cycles},
      {"wse:kernel.gemv_walk", "written", "gemv", M::cycles},
      {"wse:kernel.gemv_repeats", "3", "gemv", M::cycles},
      {"wse:ws.groups", "2", "streamed", M::cycles},
      {"wse:ws.share", "tokens", "streamed", M::cycles, {"ws.groups=2"}},
      {"wse:ws.lie", "interleaved", "streamed", M::cycles, {"ws.groups=2"}},
      {"wse:ws.copies", "idealised", "streamed", M::cycles, {"ws.groups=2", "ws.share=tokens"}},
      {"wse:ws.exchange", "next", "streamed", M::cycles, {"ws.groups=2"}},
      {"wse:ws.buses", "1", "streamed", M::cycles, {"ws.groups=2"}},
      {"wse:ws.lookahead", "4", "streamed", M::cycles},
      {"wse:ws.psum", "fp32", "streamed", M::cycles},
      {"wse:ws.ring", "fp32", "streamed", M::cycles},
      {"wse:ws.inject", "middle_row", "streamed", M::cycles},
      {"wse:ws.reduce", "chain", "streamed", M::cycles},
      {"wse:ws.row_order", "rotate", "streamed", M::cycles},
      {"wse:ws.k_partition", "cyclic", "streamed", M::cycles},
      {"wse:ws.gradient", "chained", "gradient", M::cycles},
      {"wse:ws.results", "1", "gradient", M::cycles, {"ws.gradient=chained"}},
      {"wse:ws.zero_filter", "false", "streamed", M::cycles},
      {"wse:ws.index_bits", "16", "all", M::cycles},
      {"wse:zero_filter.at", "receiver", "streamed", M::cycles},
      {"wse:zero_filter.scan_width", "1", "streamed", M::cycles, {"io.share=1"}},
      {"wse:resident.storage", "all", "resident", M::cycles},
      {"wse:resident.nonzero_cycles", "20", "resident", M::cycles},
      {"wse:io.gbit", "2400", "streamed", M::cycles},
      {"wse:io.share", "1", "streamed", M::cycles},
      {"wse:io.stream", "row_ordered", "streamed", M::cycles},
      {"wse:io.column_fifo", "1", "rows", M::cycles, {"io.stream=row_ordered"}},
      {"wse:io.dist_rows", "4", "streamed", M::cycles, {"ws.inject=west_edge"}},
      {"wse:io.duplex", "full", "gradient", M::cycles},
      {"wse:map.align", "bad", "all32", M::cycles},
      {"wse:energy.node", "n16", "streamed", M::joules},
      {"wse:energy.vdd_squared", "2", "streamed", M::joules},
      {"wse:energy.chip_units", "1700000", "streamed", M::joules},
      {"wse:energy.area_calibration", "2", "streamed", M::joules},
      {"wse:energy.distance_mm", "0.466", "streamed", M::joules},
      {"wse:energy.peak_macs", "8", "streamed", M::joules},
      {"wse:energy.calibration", "2", "streamed", M::joules},
  };
  return all;
}

/// Parameters that have no step, and why: with the citation of a training step, which
/// system_walk_test.cpp names, the five that there may be.
const std::map<std::string, std::string>& without_a_step() {
  static const std::map<std::string, std::string> all = {
      {"ipu:round", "changes values, never cycles"},
      {"wse:wafer.modules", "the results are the same, by an equivalence test"},
      {"wse:wafer.cores", "names the product; energy.chip_units is what silicon is counted by"},
      {"wse:router.reconfig", "no workload tears a color down; router_test.cpp has one that does"},
  };
  return all;
}

/// Parameters of what is measured with programs of its own: a published point of such a probe, and
/// what the point comes to moves.
struct ProbeStep {
  const char* path;
  const char* value;
  const char* system;
  const char* workload;
  std::map<std::string, std::string> parameters;
  const char* metric;
};

const std::vector<ProbeStep>& probe_steps() {
  const std::map<std::string, std::string> relay = {{"role", "storage_core"},
                                                    {"work", "receive_check_and_count"}};
  const std::map<std::string, std::string> line = {{"words", "16"},
                                                   {"receivers", "4"},
                                                   {"hops_to_last", "4"},
                                                   {"timer_correction", "1_cycle_per_hop"}};
  const std::map<std::string, std::string> stencil = {
      {"radius", "1"}, {"tile", "5x3"}, {"dtype", "fp32"}};
  const std::map<std::string, std::string> copy = {{"operation", "copy"}, {"dtype", "fp16"}};
  const std::map<std::string, std::string> half_fma = {{"operation", "fma"}, {"dtype", "fp16"}};
  const std::map<std::string, std::string> decode = {
      {"model", "Qwen3-1.7B"}, {"block", "64x64"}, {"bsz", "1"},
      {"context", "128"},      {"blocks", "1x1"},  {"tokens", "64"}};
  static const std::vector<ProbeStep> all = {
      {"wse:mem.row_bytes",
       "0",
       "CS-3",
       "vector_operation",
       {{"operation", "strided_read"}, {"dtype", "fp16"}, {"stride", "8"}},
       "rate"},
      {"wse:simd.by_rows", "false", "CS-3", "stencil_star2d", stencil, "cycles_per_iteration"},
      {"wse:simd.to_register",
       "5",
       "CS-3",
       "vector_reduction_to_scalar",
       {{"operation", "add"}, {"dtype", "fp16"}},
       "cost"},
      {"wse:scalar.branch_not", "8", "CS-3", "data_task_per_word", relay, "cost"},
      {"wse:scalar.branch_taken", "1", "CS-3", "branch", {{"taken", "yes"}}, "to_next_dispatch"},
      {"wse:scalar.dependent", "8", "CS-3", "data_task_per_word", relay, "cost"},
      {"wse:task.overhead", "30", "CS-3", "data_task_per_word", relay, "cost"},
      {"wse:task.completion", "16", "CS-3", "stencil_star2d", stencil, "cycles_per_iteration"},
      {"wse:timer.sync_hop", "3", "CS-3", "line_multicast", line, "last_receiver_shortest"},
      {"wse:vec.setup_descriptor", "8", "CS-3", "vector_operation", copy, "setup"},
      {"wse:vec.setup_first", "8", "CS-3", "vector_operation", copy, "setup"},
      {"wse:vec.setup_scalar", "9", "CS-3", "vector_operation", half_fma, "setup"},
      {"wse:vec.setup_use", "8", "CS-3", "vector_operation", copy, "setup"},
      {"wse:llm.attention_code", "49152", "CS-3", "decode_layer_attention", decode,
       "cycles_per_layer"},
      {"wse:llm.exp_degree", "9", "CS-3", "decode_layer_attention", decode, "cycles_per_layer"},
      {"wse:llm.exp_positions", "64", "CS-3", "decode_layer_attention", decode, "cycles_per_layer"},
      {"wse:llm.exp_squarings", "9", "CS-3", "decode_layer_attention", decode, "cycles_per_layer"},
      {"wse:llm.groups", "4", "CS-3", "decode_layer_attention", decode, "cycles_per_layer"},
      {"wse:llm.moving_descriptors", "false", "CS-3", "decode_layer_attention", decode,
       "cycles_per_layer"},
      {"wse:llm.route_write", "20", "CS-3", "decode_layer_attention", decode, "cycles_per_layer"},
      {"wse:llm.sum_step", "20", "CS-3", "decode_layer_attention", decode, "cycles_per_layer"},
      {"wse:llm.unrolled", "false", "CS-3", "decode_layer_attention", decode, "cycles_per_layer"},
      {"wse:llm.ffn_code", "49152", "CS-3", "decode_layer_ffn", decode, "cycles_per_layer"},
      {"wse:llm.silu_terms", "8", "CS-3", "decode_layer_ffn", decode, "cycles_per_layer"},
      {"wse:llm.stream_rate", "1", "CS-3", "kv_ingress_host_to_wafer", decode, "cycles"},
  };
  return all;
}

/// Parameters of what is around wafers that share a store of weights.
struct StoreStep {
  const char* path;
  const char* value;
  const char* what;  // a row of kCases
};

const std::vector<StoreStep>& store_steps() {
  static const std::vector<StoreStep> all = {
      {"sys:chip", "wse3", "store"},
      {"sys:wafers", "16", "store"},
      {"sys:weight_bytes", "8", "store"},
      {"sys:grad_bytes", "8", "trained"},
      {"sys:prefetch_bytes", "4096", "large store"},
      {"sys:chunk_bytes", "64", "store"},
      {"sys:chunks", "16", "large store"},
      {"sys:io_latency_us", "50", "store"},
      {"sys:steps", "3", "store"},
      {"sys:system_w", "100", "store"},
      {"sys:memoryx.read_gbps", "1", "store"},
      {"sys:memoryx.write_gbps", "1", "trained"},
      {"sys:memoryx.update_ns_per_1k", "100", "trained"},
      {"sys:memoryx.capacity_tb", "8", "store"},
      {"sys:memoryx.state_bytes", "16", "trained"},
      {"sys:memoryx.pj_bit", "40", "store"},
      {"sys:memoryx.standing_w", "100", "store"},
      {"sys:swarmx.fanout", "2", "store"},
      {"sys:swarmx.level_latency_ns", "5000", "store"},
      {"sys:swarmx.link_gbps", "1", "store"},
      {"sys:swarmx.tree_gbps", "1", "store"},
      {"sys:swarmx.pj_bit", "40", "store"},
      {"sys:swarmx.node_w", "100", "store"},
  };
  return all;
}

struct Found {
  Status status = Status::ok;
  std::uint64_t cycles = 0;
  std::vector<std::uint64_t> bytes;
  double joules = 0;
  std::vector<std::pair<std::string, std::uint64_t>> host;
};

RunRecord record_of(const Case& what, std::vector<std::string> settings,
                    const std::function<void(const Point&, const RunRecord&)>& use = {}) {
  settings.insert(settings.begin(), what.settings.begin(), what.settings.end());
  // the last setting of a parameter counts
  std::map<std::string, std::string> last;
  for (const std::string& setting : settings) last[setting.substr(0, setting.find('='))] = setting;
  settings.clear();
  for (const auto& [path, setting] : last) settings.push_back(setting);
  const auto machines = make_machines(standard_machines(), {what.machine}, settings);
  Point point;
  point.machine = machines.front().get();
  point.workload = parse_trace(
      std::string("# lacuna-trace v1\nid,model,layer,op,phase,m,k,n,batch,dtype,fn,args,pattern,"
                  "density,block,mode,residency,x_pattern,x_density\nrow,walk,walk,") +
          what.row + ',' + what.x + "\n",
      "walk.csv");
  const RunSettings common;
  MaskStore masks(common.seed);
  static const Pricing pricing(config_folder());
  RunRecord record = run_point(point, common, masks, pricing);
  if (use) use(point, record);
  return record;
}

Found run(const Case& what, const std::vector<std::string>& settings) {
  const RunRecord record = record_of(what, settings);
  const SummaryRow& row = record.total;
  Found found;
  found.status = row.status;
  if (row.status != Status::ok) return found;
  found.cycles = row.cycles.value_or(0);
  for (const auto& bytes :
       {row.sram_read_bytes, row.sram_write_bytes, row.fabric_bytes, row.io_bytes}) {
    found.bytes.push_back(bytes.value_or(0));
  }
  found.joules = row.energy_j ? row.energy_j->nominal : 0;
  for (const StatEntry& entry : record.ops.front().result.statistics) {
    if (entry.path == "host") found.host.emplace_back(entry.name, entry.value);
  }
  return found;
}

bool moved(Moves what, const Found& before, const Found& after) {
  switch (what) {
    case Moves::cycles:
      return before.cycles != after.cycles;
    case Moves::bytes:
      return before.bytes != after.bytes;
    case Moves::joules:
      return before.joules != after.joules;
    case Moves::host:
      return before.host != after.host;
    case Moves::fits:
      return before.status != after.status;
  }
  return false;
}

class ParameterWalk : public ::testing::TestWithParam<Step> {};

TEST_P(ParameterWalk, MovesWhatItIsFor) {
  const Step& step = GetParam();
  const std::string path = std::string(step.path).substr(4);
  const Case& what = cases().at(step.what);
  std::vector<std::string> settings = step.with;
  const Found before = run(what, settings);
  settings.push_back(path + "=" + step.value);
  const Found after = run(what, settings);
  if (step.moves != Moves::fits) {
    EXPECT_EQ(before.status, Status::ok);
    EXPECT_EQ(after.status, Status::ok);
  }
  EXPECT_TRUE(moved(step.moves, before, after))
      << path << " = " << step.value << " changes nothing of '" << step.what << "'";
}

void PrintTo(const Step& step, std::ostream* out) { *out << step.path << "=" << step.value; }

INSTANTIATE_TEST_SUITE_P(Of, ParameterWalk, ::testing::ValuesIn(steps()));

/// What the store, the tree and the wafers do in a run of the case.
std::string system_of(const Case& what, const std::vector<std::string>& settings) {
  std::string text;
  record_of(what, settings, [&](const Point& point, const RunRecord& record) {
    if (!has_weight_store(*point.machine)) return;
    const Pricing pricing(config_folder());
    const WaferSystemRun run =
        run_wafer_system(*point.machine, point.workload, work_of(record), Engine::event, pricing);
    for (const auto& [name, content] : wafer_system_files(run)) text += content;
  });
  return text;
}

class StoreWalk : public ::testing::TestWithParam<StoreStep> {};

TEST_P(StoreWalk, MovesWhatItIsFor) {
  const StoreStep& step = GetParam();
  const std::string path = std::string(step.path).substr(4);
  const Case& what = cases().at(step.what);
  const std::string before = system_of(what, {});
  EXPECT_NE(before, "");
  EXPECT_NE(before, system_of(what, {path + "=" + step.value}))
      << path << " = " << step.value << " changes nothing of '" << step.what << "'";
}

void PrintTo(const StoreStep& step, std::ostream* out) { *out << step.path << "=" << step.value; }

INSTANTIATE_TEST_SUITE_P(Of, StoreWalk, ::testing::ValuesIn(store_steps()));

/// What the point comes to.
ValidationOutcome outcome_of(const ProbeStep& step, const std::vector<std::string>& settings) {
  ValidationPoint point;
  point.id = "walk";
  point.system = step.system;
  point.workload = step.workload;
  point.parameters = step.parameters;
  point.metric = step.metric;
  ValidationRunSettings run;
  run.settings = settings;
  std::vector<ValidationOutcome> outcomes(1);
  outcomes[0].status = Status::unsupported;
  measure_wafer_probes({point}, standard_machines(), run, outcomes);
  if (outcomes[0].status == Status::unsupported) {
    measure_inference({point}, standard_machines(), run, outcomes);
  }
  return outcomes[0];
}

class ProbeWalk : public ::testing::TestWithParam<ProbeStep> {};

TEST_P(ProbeWalk, MovesWhatItIsFor) {
  const ProbeStep& step = GetParam();
  const ValidationOutcome before = outcome_of(step, {});
  const std::string path = std::string(step.path).substr(4);
  const ValidationOutcome after = outcome_of(step, {path + "=" + step.value});
  ASSERT_EQ(before.status, Status::ok) << before.reason;
  // Memory that a program takes for itself shows in what does not fit beside it.
  EXPECT_TRUE(after.status != Status::ok || before.simulated != after.simulated)
      << path << " = " << step.value << " changes nothing of '" << step.workload << "'";
}

void PrintTo(const ProbeStep& step, std::ostream* out) { *out << step.path << "=" << step.value; }

INSTANTIATE_TEST_SUITE_P(Of, ProbeWalk, ::testing::ValuesIn(probe_steps()));

// The scan for the likeliest words is in the tail of a whole step, of a small model here.
TEST(ParameterWalk, ALogitThatIsComparedLongerTakesLonger) {
  const std::string model = testing::TempDir() + "parameter_walk_model.json";
  std::ofstream(model) << R"({"model_type": "llama", "hidden_act": "silu", "hidden_size": 128,
             "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
             "num_hidden_layers": 4, "vocab_size": 512, "max_position_embeddings": 4096,
             "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true,
             "torch_dtype": "float16"})";
  const auto cycles = [&](const std::string& more) {
    const Ran ran = run_real("run --json --machine wse3 --blocks 1x2 --block-cores 16x16 --model " +
                             model + " --decode --context 64" + more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string key = "\"step_cycles\": ";
    const std::size_t at = ran.out.find(key);
    return at == std::string::npos ? 0.0 : std::stod(ran.out.substr(at + key.size()));
  };
  // 512 logits on 128 cores of the last column are 4 of a core, each 982 cycles longer
  EXPECT_EQ(cycles(" --set llm.select_logit=1024"), cycles("") + 4 * (1024 - 42));
}

TEST(ParameterWalk, LeavesNoneOut) {
  std::set<std::string> walked;
  for (const Step& step : steps()) walked.insert(step.path);
  for (const ProbeStep& step : probe_steps()) walked.insert(step.path);
  for (const StoreStep& step : store_steps()) walked.insert(step.path);
  walked.insert("wse:llm.weight_form");  // DecodeRun.WeightsAreListedWhereThatIsSooner
  walked.insert("wse:llm.skip");  // acts on zeros of a request: DecodeRun.WhatIsLeftOutIsNotPaid
  walked.insert("wse:llm.select_logit");
  std::set<std::string> missing;
  std::set<std::string> known;
  const auto visit = [&](const std::string& kind, const ParameterSet& parameters) {
    parameters.for_each([&](auto& path, auto& /*each*/) { known.insert(kind + ":" + path); });
  };
  for (const MachineKind& each : standard_machines()) visit(each.kind, each.make("")->parameters());
  visit("sys", system::WaferSystemParams{});
  for (const std::string& name : known) {
    if (walked.count(name) + without_a_step().count(name) == 0) missing.insert(name);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "give each a step, or change it so that it acts";
  for (const std::string& path : walked) EXPECT_EQ(known.count(path), 1U) << path;
  EXPECT_LE(without_a_step().size(), 4U);  // and the citation
}

}  // namespace
}  // namespace lacuna::test
