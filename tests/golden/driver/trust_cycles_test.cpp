// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "sim/driver/files/config_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

/// One kernel of a family of blind_errors.csv. If its cycles move, so may those of the points that
/// were measured, and their errors are those of an earlier model.
struct Kernel {
  const char* machine;
  const char* family;
  const char* regime;
  const char* arguments;  // of `lacuna run`
  const char* row;        // of a trace, if the arguments do not say it all
};

constexpr const char* kBow = "--machine bow --gemm 1024x1024x64 ";
constexpr const char* kSpmm =
    "--machine wse2 --set wafer.columns=4 --set wafer.rows=4 --set kernel.spmm_phases=local "
    "--set kernel.protocol_cycles=1593 --gemm 64x64x32 --dtype fp32 --mode dynamic "
    "--pattern unstructured:0.1 --set kernel.spmm_format=";
constexpr const char* kRow = "--machine wse2 --set wafer.columns=16 --set wafer.rows=1 ";

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = {
      {"bow", "dense product", "fp16", "", nullptr},
      {"bow", "dense product", "fp32", "--dtype fp32", nullptr},
      {"bow", "static sparse over dense product", "block 1", "--pattern unstructured:0.25",
       nullptr},
      {"bow", "static sparse over dense product", "block 4", "--pattern block4:0.125", nullptr},
      {"bow", "static sparse over dense product", "block 8", "--pattern block8:0.0625", nullptr},
      {"bow", "static sparse over dense product", "block 16", "--pattern block16:0.25", nullptr},
      {"bow", "static sparse over dense product", "side up to 1024", "--pattern block4:0.25",
       nullptr},
      {"bow", "static sparse over dense product", "side from 2048 on",
       "--gemm 2048x2048x64 --pattern block8:0.0625", nullptr},
      {"bow", "dense product at the best n", "all", "--gemm 1024x1024x1024", nullptr},
      {"bow", "static product at the best n", "all",
       "--gemm 1024x1024x1024 --pattern block16:0.0625", nullptr},
      {"bow", "dynamic product at the best n", "all",
       "--gemm 1024x1024x1024 --pattern block16:0.0625 --mode dynamic", nullptr},
      {"wse2", "SpMM in software (vendor simulator)", "csc", "csc", nullptr},
      {"wse2", "SpMM in software (vendor simulator)", "csr", "csr", nullptr},
      {"wse2", "SpMM in software (vendor simulator)", "coo", "coo", nullptr},
      {"wse2", "SpMM in software (vendor simulator)", "ellpack", "ellpack", nullptr},
      {"wse2", "SpMM in software (vendor simulator)", "gemm", "dense", nullptr},
      {"wse2", "collective (published model)", "broadcast", "", "broadcast,tree"},
      {"wse2", "collective (published model)", "reduce; chain", "", "reduce,chain"},
      {"wse2", "collective (published model)", "reduce; tree", "", "reduce,tree"},
      {"wse2", "collective (published model)", "reduce; two-phase", "", "reduce,two_phase"},
      {"wse2", "collective (published model)", "all-reduce; ring", "", "allreduce,ring"},
  };
  return all;
}

std::string line_of(const Kernel& kernel, const ProgramBench& bench) {
  const std::string arguments = kernel.arguments;
  if (kernel.row != nullptr) {
    const std::string row = kernel.row;
    const std::size_t comma = row.find(',');
    const std::string trace =
        bench.file("kernel.csv",
                   "# lacuna-trace v1\nid,op,model,layer,phase,m,k,n,batch,dtype,fn,args\n"
                   "kernel," +
                       row.substr(0, comma) + ",kernel,kernel,fwd,256,,1,,fp32," +
                       row.substr(comma + 1) + ",ranks=16;rows=1\n");
    return kRow + ("--trace " + trace);
  }
  if (kernel.machine == std::string("wse2")) return kSpmm + arguments;
  const bool own_size = arguments.find("--gemm") != std::string::npos;
  return (own_size ? std::string("--machine bow ") : std::string(kBow)) + arguments;
}

std::uint64_t cycles_of(const Kernel& kernel) {
  const ProgramBench bench;
  const Ran ran = run_real("run --quiet --json " + line_of(kernel, bench));
  if (ran.status != 0) {
    ADD_FAILURE() << kernel.family << ", " << kernel.regime << ": " << ran.err;
    return 0;
  }
  const std::string name = "\"cycles\": ";
  return std::stoull(ran.out.substr(ran.out.rfind(name) + name.size()));
}

std::string key(const std::string& machine, const std::string& family, const std::string& regime) {
  return machine + "," + family + "," + regime;
}

TEST(ManualTrust, KnowsWhichFamiliesHaveMovedSinceTheyWereMeasured) {
  const std::string path = source_path("sim/config/trust_cycles.csv");
  const ConfigTable table(path, {"machine", "family", "regime", "measured", "now"});
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> rows;
  for (std::size_t row = 0; row < table.size(); ++row) {
    rows[key(table.text(row, "machine"), table.text(row, "family"), table.text(row, "regime"))] = {
        table.count(row, "measured"), table.count(row, "now")};
  }
  std::string text = "machine,family,regime,measured,now\n";
  for (const Kernel& kernel : kernels()) {
    const std::string name = key(kernel.machine, kernel.family, kernel.regime);
    const std::uint64_t now = cycles_of(kernel);
    const auto row = rows.find(name);
    const std::uint64_t measured = row == rows.end() ? now : row->second.first;
    text += name + "," + std::to_string(measured) + "," + std::to_string(now) + "\n";
    if (std::getenv("LACUNA_RENEW") != nullptr) continue;  // NOLINT(concurrency-mt-unsafe)
    EXPECT_EQ(row == rows.end() ? 0 : row->second.second, now)
        << name << " of " << path << ": if the change is meant, scripts/renew_golden.sh renews the "
        << "column `now`, and results of this family say 'measured before this model'";
  }
  renew(path, text);
}

}  // namespace
}  // namespace lacuna::test
