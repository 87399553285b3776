// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/json_member.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// What is interrupted after so many operations and then resumed ends as if nothing had happened.
class Resume : public ::testing::Test {
 protected:
  /// The bytes of all files below a folder but host.json.
  std::map<std::string, std::string> files(const std::string& folder) const {
    std::map<std::string, std::string> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(lacuna_.path(folder), ignored)) {
      const std::string name = entry.path().lexically_relative(lacuna_.path(folder)).string();
      if (entry.is_directory() || name == "host.json") continue;
      found[name] = lacuna_.read(folder + "/" + name);
    }
    return found;
  }

  bool exists(const std::string& name) const { return fs::exists(lacuna_.path(name)); }

  void interrupt_after(unsigned operations) const {
    lacuna_.file("config/interrupt_after", std::to_string(operations));
  }

  /// Runs a line in a process of its own, which a signal may end; its exit status.
  int in_child(const std::string& line) const {
    const pid_t child = fork();
    if (child == 0) _exit(lacuna_(line).status);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string to(const std::string& line, const std::string& out) const {
    return line + " --quiet --out " + lacuna_.path(out);
  }

  ProgramBench lacuna_;
};

TEST_F(Resume, ACompareThatWasInterruptedSaysSoEverywhereAndGoesOn) {
  const std::string line =
      "compare --machine fake --machine slow --gemm 16x16x16 --pattern unstructured:0.25 "
      "--pattern unstructured:0.5 --jobs 1 --set fault=interrupt_after";
  ASSERT_EQ(lacuna_(to(line, "whole")).status, 0);
  const std::map<std::string, std::string> whole = files("whole");
  EXPECT_TRUE(member_of(whole.at("result.json"), "interrupted").is_null());
  interrupt_after(2);  // of four points
  const Ran ran = lacuna_(to(line, "out"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("interrupted; 2 of 4 points are finished, and kept: --resume"));
  const std::map<std::string, std::string> part = files("out");
  EXPECT_EQ(member_of(part.at("result.json"), "interrupted"), true);
  EXPECT_THAT(CsvTable(part.at("summary.csv")).column("status"), Contains("interrupted"));
  EXPECT_THAT(part.at("report.html"), HasSubstr("interrupted: 2 of 4 runs"));
  for (const auto& [name, bytes] : part) {
    if (fs::path(name).extension() != ".gp") continue;
    EXPECT_THAT(bytes, HasSubstr("'interrupted: ")) << name;
  }
  const Ran plain = lacuna_(to(line, "out"));
  EXPECT_EQ(plain.status, 2);
  EXPECT_THAT(plain.err, HasSubstr("--resume goes on with it, or remove it"));
  const Ran other = lacuna_(to(line, "out") + " --seed 7 --resume");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("arguments: was 'compare"), HasSubstr("--seed 7")));
  ASSERT_EQ(lacuna_(to(line, "out") + " --resume").status, 0);
  EXPECT_EQ(files("out"), whole);
  EXPECT_FALSE(exists("out.journal"));
}

// Two machines and two patterns are four points; a third of them are the points 0 and 3.
// The inputs that a program names are files of its request, as the program is.
TEST_F(Resume, AnInputOfAProgramThatChangedIsNoticed) {
  const auto npy = [](const char* value) {
    const std::string about = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    const std::string head = about + std::string(117 - about.size(), ' ') + "\n";
    return std::string("\x93NUMPY\x01\0", 8) + std::string("\x76\0", 2) + head +
           std::string(value, 4);
  };
  lacuna_.file("a.npy", npy("\0\0\x80\x3f"));
  const std::string program = lacuna_.file("p.yaml",
                                           "inputs: {a: a.npy}\ncores: [{tasks: {main: {active: "
                                           "true, steps: [{work: '2 + a[0]'}]}}}]\n");
  const std::string line =
      "run --machine wse2 --program " + program + " --out " + lacuna_.path("p");
  const Ran first = run_real(line);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(run_real(line + " --resume").status, 0);
  lacuna_.file("a.npy", npy("\0\0\0\x40"));
  const Ran changed = run_real(line + " --resume");
  EXPECT_EQ(changed.status, 2);
  EXPECT_THAT(changed.err, HasSubstr("files that have changed since"));
}

TEST_F(Resume, SharesOfAComparisonMakeItsResult) {
  const std::string line =
      "compare --machine fake --machine slow --gemm 16x16x16 --pattern unstructured:0.25 "
      "--pattern unstructured:0.5";
  ASSERT_EQ(lacuna_(to(line, "whole")).status, 0);
  for (const char* const share : {"1/3", "3/3"}) {
    const Ran ran = lacuna_(line + " --out " + lacuna_.path("out") + " --shard " + share);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, "");
    const std::string kept = share[0] == '1' ? "2 of 4 points" : "1 of 4 points";
    EXPECT_THAT(ran.err, HasSubstr(kept + " are kept beside"));
    EXPECT_FALSE(exists("out"));
  }
  const Ran rest = lacuna_(line + " --resume --out " + lacuna_.path("out"));
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("3 of 4 points were finished before"));
  EXPECT_EQ(files("out"), files("whole"));
}

// Two sizes of block are four points: of each a sample of 6 products, and the dense step, of which
// 4 are alike. The 17th simulation is of the last point: three are finished, in one journal.
TEST_F(Resume, AScheduleOfSeveralSizesOfBlocksIsOneStudy) {
  const std::string line =
      "trace schedule dynamic --model bert-tiny --tokens 16 --block 8,16 --samples 1 --machine "
      "fake --jobs 1 --set fault=interrupt_after --out " +
      lacuna_.path("out");
  interrupt_after(16);
  const Ran ran = lacuna_(line);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("interrupted; 3 of 4 points are finished, and kept: --resume"));
  EXPECT_FALSE(exists("out"));
  EXPECT_TRUE(exists("out.journal"));
  EXPECT_FALSE(exists("out.block8.journal"));
  EXPECT_THAT(lacuna_(line + " --resume").err, HasSubstr("3 of 4 points were finished before"));
}

TEST_F(Resume, ARunGoesOnAfterEachOfItsOperations) {
  const std::string line =
      "run --machine fake --set fault=end_after --trace " +
      lacuna_.file("t.csv",
                   "# lacuna-trace v1\nid,op,m,k,n,pattern,density\na,gemm,16,16,16,dense,\n"
                   "b,gemm,16,16,16,unstructured,0.5\nc,gemm,32,16,16,unstructured,0.25\n");
  ASSERT_EQ(lacuna_(to(line, "whole")).status, 0);
  const std::map<std::string, std::string> whole = files("whole");
  for (const unsigned operations : {0U, 1U, 2U}) {
    interrupt_after(operations);
    EXPECT_EQ(in_child(to(line, "out")), 1);
    EXPECT_FALSE(exists("out")) << "a folder that looks complete";
    const Ran ran = lacuna_(line + " --resume --out " + lacuna_.path("out"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string before = std::to_string(operations) + " of 3 operations were finished before";
    if (operations > 0) {
      EXPECT_THAT(ran.err, HasSubstr(before));
    }
    EXPECT_EQ(files("out"), whole);
    EXPECT_FALSE(exists("out.journal"));
    fs::remove_all(lacuna_.path("out"));
  }
}

TEST_F(Resume, AValidationGoesOn) {
  const std::string line =
      "validate --jobs 1 --set fault=end_after --points " +
      lacuna_.file("p.csv",
                   "id,system,workload,m,k,n,density,block,dtype,mode,metric,value,unit,source,"
                   "confidence\n"
                   "A,fake,gemm,16,16,16,1,,FP16,dense,cycles,138,cycles,s,H\n"
                   "B,fake,gemm,16,16,32,1,,FP16,dense,cycles,266,cycles,s,H\n"
                   "C,slow,spmm,16,16,32,0.5,1,FP16,static,cycles,138,cycles,s,H\n");
  const Ran ran = lacuna_(to(line, "whole"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::map<std::string, std::string> whole = files("whole");
  for (const unsigned runs : {0U, 1U, 2U}) {
    interrupt_after(runs);
    EXPECT_EQ(in_child(to(line, "out")), 1);
    EXPECT_FALSE(exists("out"));
    const Ran again = lacuna_(to(line, "out") + " --resume");
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(files("out"), whole);
    EXPECT_FALSE(exists("out.journal"));
    fs::remove_all(lacuna_.path("out"));
  }
}

TEST_F(Resume, AScheduleGoesOnAndItsFolderIsThereWhenItIsWhole) {
  const std::string line =
      "trace schedule dynamic --model bert-tiny --tokens 16 --block 16 --samples 2 --machine fake "
      "--jobs 1 --set fault=interrupt_after";
  const Ran ran = lacuna_(to(line, "whole"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::map<std::string, std::string> whole = files("whole");
  ASSERT_EQ(whole.count("results.csv"), 1U);
  for (const unsigned operations : {0U, 5U}) {  // in the first sample, and in a later one
    interrupt_after(operations);
    const Ran stopped = lacuna_(to(line, "out"));
    EXPECT_EQ(stopped.status, 1);
    EXPECT_THAT(stopped.err, HasSubstr("--resume goes on"));
    EXPECT_FALSE(exists("out"));
    EXPECT_FALSE(exists("out.unfinished"));
    const Ran again = lacuna_(to(line, "out") + " --resume");
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(files("out"), whole);
    EXPECT_FALSE(exists("out.journal"));
    fs::remove_all(lacuna_.path("out"));
  }
}

TEST_F(Resume, NothingButTheSameRequestIsTakenForFinished) {
  const std::string line = "run --machine fake --gemm 16x16x16";
  ASSERT_EQ(lacuna_(to(line, "out")).status, 0);
  const Ran same = lacuna_(to(line, "out") + " --resume");
  EXPECT_EQ(same.status, 0);
  EXPECT_THAT(same.err, HasSubstr("the run is finished"));
  const Ran other = lacuna_(to("run --machine slow --gemm 16x16x16", "out") + " --resume");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("is the result of another one"),
                               HasSubstr("lacuna run --machine fake --gemm 16x16x16")));
  const std::string study = "sweep " + lacuna_.file("s.yaml", "machine: fake\ngemm: 16x16x16\n");
  EXPECT_EQ(lacuna_(to(study, "out") + " --resume").status, 2);
  EXPECT_THAT(lacuna_(line + " --resume").err, HasSubstr("--resume: needs --out"));
}

// Points come from processes of their own, and power over time must come with them.
TEST(Compare, HasPowerOverTimeAsARunHas) {
  const std::string request =
      " --machine bow --gemm 16x16x16 --set ipu.tiles=4 --quiet --interval 500";
  const auto power = [](const Ran& ran) {
    const std::size_t line = ran.out.find("power of run 0");
    return line == std::string::npos ? "" : ran.out.substr(line, ran.out.find('\n', line) - line);
  };
  const std::string of_run = power(run_real("run" + request));
  EXPECT_THAT(of_run, HasSubstr("in the 500 cycles"));
  EXPECT_EQ(power(run_real("compare" + request)), of_run);
}

}  // namespace
}  // namespace lacuna::test
