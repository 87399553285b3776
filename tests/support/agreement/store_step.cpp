// SPDX-License-Identifier: Apache-2.0
#include "tests/support/agreement/store_step.hpp"

#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna::test {

StoreStep::StoreStep(Random& random)
    : m(8 * upto(random, 6)),
      k(8 * upto(random, 6)),
      n(8 * upto(random, 4)),
      machine(pick<std::string>(random, {"cs2x1", "cs2x2", "cs2x4"})),
      density(pick<std::string>(random, {"", "0.5", "0.25"})) {}

WorkloadTrace StoreStep::rows(const std::string& dtype) const {
  const std::string pattern = density.empty() ? "dense,," : "unstructured," + density + ",";
  const std::string own = density.empty() ? "dense,," : "ref,,of=fwd.a";
  const char* const gradient = density.empty() ? "bmm" : "sddmm";
  std::string text =
      "# lacuna-trace v1\nid,op,layer,phase,m,k,n,dtype,pattern,density,"
      "pattern_args\n";
  const auto shape = [&](unsigned a, unsigned b, unsigned c) {
    return std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c) + "," + dtype;
  };
  text += "fwd.a,gemm,a,fwd," + shape(m, k, n) + "," + pattern + "\n";
  if (trains) {
    text += std::string("bwd.a_dw,") + gradient + ",a,bwd," + shape(m, n, k) + "," + own + "\n";
  }
  const TempFile file(text);
  return read_trace(file.path());
}

WaferSystemRun StoreStep::run(const std::string& dtype, std::vector<std::string> settings,
                              RunRecord* kept) const {
  settings.insert(settings.end(), {"chip.wafer.columns=8", "chip.wafer.rows=8"});
  const auto machines = make_machines(standard_machines(), {machine}, settings);
  static const Pricing pricing(config_folder());
  Point point;
  point.machine = machines[0].get();
  point.workload = rows(dtype);
  MaskStore masks(1);
  const RunRecord record = run_point(point, {}, masks, pricing);
  if (kept != nullptr) *kept = record;
  return run_wafer_system(*machines[0], point.workload, costs_of(record), {}, pricing);
}

}  // namespace lacuna::test
