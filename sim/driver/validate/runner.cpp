// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/runner.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/report/layout_note.hpp"

namespace lacuna {

namespace {

/// What the mask of a run depends on: not n and not the type, so that a curve over n and its
/// types see one matrix. Its rule is named if it is not the default one.
std::string mask_name(const LayerOp& op) {
  std::string name =
      fmt::format("{}x{} {} block {} {}", op.m, op.k, op.pattern.name, op.pattern.block_rows,
                  op.pattern.density ? op.pattern.density->text() : "");
  for (const auto& [key, value] : op.pattern.args) {
    if (key == "mask_rule" || key == "rule_seed") name += fmt::format(" {} {}", key, value);
  }
  return name;
}

/// Makes what runs need, each once: machines for good, and the latest mask, because runs come
/// ordered by mask and a large one takes 100 MB.
class Workshop {
 public:
  Workshop(const MachineTable& table, const ValidationRunSettings& settings)
      : table_(table), settings_(settings) {}

  ValidationRunResult simulate(const ValidationRun& run);

  const Machine& machine(const ValidationRun& run);

 private:
  const Mask* mask(const LayerOp& op);
  std::unique_ptr<Machine> planned_machine(const ValidationRun& run) const;
  void add_planned(const ValidationRun& run, ValidationRunResult& result);

  const MachineTable& table_;
  const ValidationRunSettings& settings_;
  std::map<std::string, std::unique_ptr<Machine>> machines_;
  std::string mask_name_;
  std::optional<Mask> mask_;
};

const Machine& Workshop::machine(const ValidationRun& run) {
  std::string key = run.machine + "@" + run.clock;
  for (const std::string& setting : run.settings) key += " " + setting;
  std::unique_ptr<Machine>& kept = machines_[key];
  if (kept == nullptr) kept = with_layouts(planned_machine(run), settings_.layout);
  return *kept;
}

std::unique_ptr<Machine> Workshop::planned_machine(const ValidationRun& run) const {
  std::vector<std::unique_ptr<Machine>> made =
      make_machines(table_, {run.machine}, settings_.settings);
  if (!run.clock.empty()) made[0]->set("clock", run.clock, "the system of the point");
  for (const std::string& setting : run.settings) {
    const std::size_t equals = setting.find('=');
    made[0]->set(setting.substr(0, equals), setting.substr(equals + 1), "the point");
  }
  made[0]->check();
  return std::move(made[0]);
}

const Mask* Workshop::mask(const LayerOp& op) {
  if (op.pattern.name == "dense") return nullptr;
  std::string name = mask_name(op);
  if (name != mask_name_) {
    mask_.reset();
    mask_ = generate_mask(op.pattern, op.m, op.k, stream_seed(settings_.seed, name));
    mask_name_ = std::move(name);
  }
  return &*mask_;
}

/// The number of cycles that a run is for.
Cycle cycles_of(const ValidationRun& run, const OpResult& result) {
  if (run.statistic.empty()) return kernel_cycles(result);
  for (const StatEntry& entry : result.statistics) {
    if (entry.name == run.statistic) return entry.value;
  }
  throw InternalError(fmt::format("there is no statistic '{}'", run.statistic));
}

ValidationRunResult Workshop::simulate(const ValidationRun& run) {
  const Machine& on = machine(run);
  try {
    const OpResult result = on.run(run.op, mask(run.op), settings_.seed, settings_.execution);
    ValidationRunResult made = {result.status, result.reason, cycles_of(run, result),
                                result.clock_ghz, result.cycles};
    made.layout = note_of(result, kLayoutNote);
    made.layout_from = note_of(result, kLayoutSourceNote);
    if (!made.layout.empty()) add_planned(run, made);
    return made;
  } catch (const OutOfMemoryError& error) {
    return {Status::out_of_memory, error.what(), 0, 0, 0};
  } catch (const UnsupportedError& error) {
    return {Status::unsupported, error.what(), 0, 0, 0};
  } catch (const SimulationError& error) {
    return {Status::failed, error.what(), 0, 0, 0};
  } catch (const InternalError& error) {
    throw InternalError(fmt::format("{}: {}", run.op.id, error.what()));
  }
}

/// The same as the machine plans it, which may be what it cannot do.
void Workshop::add_planned(const ValidationRun& run, ValidationRunResult& result) {
  try {
    const OpResult planned =
        planned_machine(run)->run(run.op, mask(run.op), settings_.seed, settings_.execution);
    result.planned = cycles_of(run, planned);
    result.all_planned = planned.cycles;
  } catch (const SimulationError&) {
  }
}

/// The order in which runs are made: by mask, the largest first, so that each mask is made once
/// and no large run is left for the end.
std::vector<std::size_t> work_order(const std::vector<ValidationRun>& runs) {
  std::vector<std::size_t> order(runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const LayerOp& op = runs[i].op;
    const std::uint64_t size = std::uint64_t{op.m} * op.k;
    return std::make_tuple(~size, mask_name(op), ~op.n, i);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

/// What a child process leaves of a run in memory shared with its parent.
struct SharedResult {
  enum class Kind : char { none, result, request_error, internal_error };

  Kind kind = Kind::none;
  Status status = Status::ok;
  Cycle cycles = 0;
  double clock_ghz = 0;
  Cycle all_cycles = 0;
  Cycle planned = 0;
  Cycle all_planned = 0;
  std::array<char, 1024> text{};
  std::array<char, 512> layout{};
  std::array<char, 512> layout_from{};

  void say(const std::string& words) { put(words, text); }

  template <std::size_t kSize>
  static void put(const std::string& words, std::array<char, kSize>& into) {
    std::copy_n(words.data(), std::min(words.size(), kSize - 1), into.data());
  }
};

/// Memory that children of this process share with it: a counter of groups handed out, and a
/// record for each run.
class SharedBoard {
 public:
  explicit SharedBoard(std::size_t runs)
      : bytes_(sizeof(std::atomic<std::size_t>) + runs * sizeof(SharedResult)) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {  // NOLINT(*-cstyle-cast,performance-no-int-to-ptr)
      throw SimulationError("There is not enough memory for parallel runs");
    }
    // the memory is the operating system's, nothing here is to be deleted
    next_ = ::new (memory) std::atomic<std::size_t>(0);  // NOLINT(*-owning-memory)
    results_ = reinterpret_cast<SharedResult*>(next_ + 1);
    for (std::size_t i = 0; i < runs; ++i) new (results_ + i) SharedResult();
  }
  ~SharedBoard() { munmap(next_, bytes_); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  std::size_t take() { return (*next_)++; }
  SharedResult& result(std::size_t i) { return results_[i]; }

 private:
  std::size_t bytes_;
  std::atomic<std::size_t>* next_;
  SharedResult* results_;
};

/// Runs that share a mask follow each other in one process.
std::vector<std::vector<std::size_t>> grouped(const std::vector<ValidationRun>& runs) {
  std::vector<std::vector<std::size_t>> groups;
  std::string last;
  for (const std::size_t i : work_order(runs)) {
    const LayerOp& op = runs[i].op;
    const std::string name = mask_name(op);
    // dense runs need no mask: each is a group of its own
    if (groups.empty() || name != last || op.pattern.name == "dense") groups.emplace_back();
    groups.back().push_back(i);
    last = name;
  }
  return groups;
}

void simulate_into(SharedResult& shared, Workshop& workshop, const ValidationRun& run) {
  using Kind = SharedResult::Kind;
  Kind kind = Kind::result;
  try {
    const ValidationRunResult result = workshop.simulate(run);
    shared.status = result.status;
    shared.cycles = result.cycles;
    shared.clock_ghz = result.clock_ghz;
    shared.all_cycles = result.all_cycles;
    shared.planned = result.planned;
    shared.all_planned = result.all_planned;
    shared.say(result.reason);
    SharedResult::put(result.layout, shared.layout);
    SharedResult::put(result.layout_from, shared.layout_from);
  } catch (const RequestError& error) {
    kind = Kind::request_error;
    shared.say(error.what());
  } catch (const std::bad_alloc&) {
    shared.status = Status::failed;
    shared.say("There is not enough memory on this computer");
  } catch (const std::exception& error) {
    kind = Kind::internal_error;
    shared.say(error.what());
  }
  shared.kind = kind;
}

/// The life of a child: groups of runs until none is left; of each finished run the parent is told
/// the number.
void work(const std::vector<ValidationRun>& runs, SharedBoard& board, Workshop& workshop,
          int pipe_end) {
  const std::vector<std::vector<std::size_t>> groups = grouped(runs);
  for (std::size_t g = board.take(); g < groups.size(); g = board.take()) {
    for (const std::size_t i : groups[g]) {
      simulate_into(board.result(i), workshop, runs[i]);
      const auto number = static_cast<std::uint32_t>(i);  // so short a message goes in one piece
      while (write(pipe_end, &number, sizeof number) < 0 && errno == EINTR) {
      }
    }
  }
}

ValidationRunResult read_result(const SharedResult& shared) {
  const std::string text = shared.text.data();
  switch (shared.kind) {
    case SharedResult::Kind::none:
      return {Status::failed, "the process that simulated it died", 0, 0, 0};
    case SharedResult::Kind::request_error:
      throw RequestError(text);
    case SharedResult::Kind::internal_error:
      throw InternalError(text);
    case SharedResult::Kind::result:
      break;
  }
  return {shared.status,
          text,
          shared.cycles,
          shared.clock_ghz,
          shared.all_cycles,
          shared.planned,
          shared.all_planned,
          shared.layout.data(),
          shared.layout_from.data()};
}

/// Told of each run that is finished, by its place.
using RunDone = std::function<void(std::size_t place)>;

/// Reads numbers of finished runs until every child has closed its end.
void follow(int pipe_end, const RunDone& finished) {
  std::array<char, 256> bytes{};
  std::size_t held = 0;  // bytes of a number that has not come whole
  for (;;) {
    const ssize_t n = read(pipe_end, bytes.data() + held, bytes.size() - held);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    held += static_cast<std::size_t>(n);
    std::size_t at = 0;
    for (; at + sizeof(std::uint32_t) <= held; at += sizeof(std::uint32_t)) {
      std::uint32_t number = 0;
      std::memcpy(&number, bytes.data() + at, sizeof number);
      finished(number);
    }
    std::memmove(bytes.data(), bytes.data() + at, held - at);
    held -= at;
  }
}

using ResultDone = std::function<void(std::size_t place, const ValidationRunResult& result)>;

std::vector<ValidationRunResult> simulate_forked(const std::vector<ValidationRun>& runs,
                                                 Workshop& workshop, unsigned jobs,
                                                 const ResultDone& done) {
  SharedBoard board(runs.size());
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw SimulationError(fmt::format("no pipe: {}", strerror(errno)));
  std::vector<pid_t> children;
  const pid_t parent = getpid();
  for (unsigned j = 0; j < jobs; ++j) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);   // NOLINT(*-vararg): POSIX
      if (getppid() != parent) _exit(0);  // it died before that
      for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
      close(ends[0]);
      work(runs, board, workshop, ends[1]);
      _exit(0);  // nothing of the parent's is to be flushed or destroyed twice
    }
    if (child > 0) children.push_back(child);
  }
  if (children.empty()) work(runs, board, workshop, ends[1]);
  close(ends[1]);
  follow(ends[0], [&](std::size_t i) {
    const SharedResult& shared = board.result(i);
    if (shared.kind == SharedResult::Kind::result) done(i, read_result(shared));
  });
  close(ends[0]);
  for (const pid_t child : children) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::vector<ValidationRunResult> results;
  for (std::size_t i = 0; i < runs.size(); ++i) results.push_back(read_result(board.result(i)));
  return results;
}

}  // namespace

Cycle kernel_cycles(const OpResult& result) {
  for (const StatEntry& entry : result.statistics) {
    if (entry.name == "kernel_cycles") return entry.value;
  }
  return result.cycles;
}

std::string text_of(const ValidationRunResult& result) {
  return fmt::format("{} {} {} {} {} {}\n{}\n{}\n{}", static_cast<int>(result.status),
                     result.cycles, result.clock_ghz, result.all_cycles, result.planned,
                     result.all_planned, result.layout, result.layout_from, result.reason);
}

ValidationRunResult validation_result(const std::string& text) {
  ValidationRunResult result;
  std::istringstream lines(text);
  int status = 0;
  lines >> status >> result.cycles >> result.clock_ghz >> result.all_cycles >> result.planned >>
      result.all_planned;
  result.status = static_cast<Status>(status);
  lines.ignore();  // the end of the numbers
  std::getline(lines, result.layout);
  std::getline(lines, result.layout_from);
  result.reason.assign(std::istreambuf_iterator<char>(lines), {});
  return result;
}

std::string text_of_runs(const MachineTable& table, const std::vector<ValidationRun>& runs,
                         const ValidationRunSettings& settings) {
  Workshop workshop(table, settings);
  std::string text = fmt::format("seed {} engine {}\n", settings.seed,
                                 static_cast<int>(settings.execution.engine));
  std::set<const Machine*> told;
  for (const ValidationRun& run : runs) {
    const Machine& machine = workshop.machine(run);
    text += fmt::format("{} of {}\n", run.op.id, fmt::join(run.settings, " "));
    if (!told.insert(&machine).second) continue;
    machine.parameters().for_each([&](const std::string& path, const ParamBase& each) {
      text += path + '=' + each.value_text() + '\n';
    });
  }
  return text;
}

std::vector<ValidationRunResult> simulate_runs(const MachineTable& table,
                                               const std::vector<ValidationRun>& runs,
                                               const ValidationRunSettings& settings,
                                               const ValidationProgress& progress,
                                               const ValidationKeeper& keeper) {
  Workshop workshop(table, settings);
  // a wrong setting is found before anything runs
  for (const ValidationRun& run : runs) workshop.machine(run);
  std::vector<ValidationRunResult> results(runs.size());
  std::vector<ValidationRun> rest;
  std::vector<std::size_t> places;  // among all
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (std::optional<ValidationRunResult> kept = keeper.find ? keeper.find(i) : std::nullopt) {
      results[i] = *std::move(kept);
      continue;
    }
    rest.push_back(runs[i]);
    places.push_back(i);
  }
  std::size_t finished = runs.size() - rest.size();
  const ResultDone done = [&](std::size_t i, const ValidationRunResult& result) {
    if (keeper.add) keeper.add(places[i], result);
    if (progress) progress(++finished, runs.size());
  };
  if (settings.jobs > 1 && rest.size() > 1) {
    const auto jobs = static_cast<unsigned>(std::min<std::size_t>(settings.jobs, rest.size()));
    std::vector<ValidationRunResult> made = simulate_forked(rest, workshop, jobs, done);
    for (std::size_t i = 0; i < rest.size(); ++i) results[places[i]] = std::move(made[i]);
    return results;
  }
  for (const std::size_t i : work_order(rest)) {
    results[places[i]] = workshop.simulate(rest[i]);
    done(i, results[places[i]]);
  }
  return results;
}

}  // namespace lacuna
