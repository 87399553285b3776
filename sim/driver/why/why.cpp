// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/why/why.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/run/idle_settings.hpp"
#include "sim/driver/why/why_words.hpp"

namespace lacuna {
namespace {

using Settings = std::vector<std::string>;

constexpr double kLayoutGain = 1.05;  // from which on a layout is a cause, and asked at
constexpr double kReached = 0.9;      // of what all causes together gain, where a ladder may end
constexpr std::size_t kMostSteps = 2;
constexpr double kOverlap = 2;    // by which a cost may gain more alone than others leave
constexpr double kMostSpent = 7;  // before costs that are not needed are not taken away alone
constexpr const char* kEnough = "not run: others have taken as long as seven runs";
constexpr double kUnknown = std::numeric_limits<double>::infinity();  // time of no run

std::string path_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

std::optional<double> time_of(const std::optional<WhyTime>& run) {
  return run ? std::optional(run->time) : std::nullopt;
}

/// The share of its time that a run spends so.
double share_of(const WhyTime& run, const std::vector<std::string>& parts) {
  double found = 0;
  for (const std::string& part : parts) {
    const auto share = run.parts.find(part);
    if (share != run.parts.end()) found += share->second;
  }
  return found;
}

/// A cost beside the run that it is a cost of.
struct Candidate {
  const DeclaredCause* cause;
  std::optional<double> alone = {};  // time with it alone away
  std::optional<double> kept = {};   // time with all others away
  std::optional<double> least = {};  // that it can take with it alone away
};

/// Whether taking it away alone is a run: what adds up is read off the stack where it shows.
bool is_run(const Candidate& each) {
  return each.cause->law == DeclaredCause::Law::hides || each.cause->shows_as.empty();
}

class Inquiry {
 public:
  Inquiry(const WhyQuestion& question, const WhyRunner& run)
      : question_(question), run_(run), at_(question.held) {}

  Why ask() {
    why_.unit = question_.unit;
    why_.ladder.push_back({});
    why_.ladder.back().settings = at_;
    why_.ladder.back().time = question_.run.time;
    count_work();
    ask_layouts();
    ask_costs();
    ask_dense();
    why_.sentences = why_sentences(why_, question_.density);
    return std::move(why_);
  }

 private:
  std::vector<std::optional<WhyTime>> run(const std::vector<WhyAsk>& asks);
  std::optional<double> time(const Settings& settings) {
    return time_of(run({{settings, false, false}}).front());
  }
  double now() const { return why_.ladder.back().time; }
  const WhyTime& laid() const { return laid_ ? *laid_ : question_.run; }

  void add_step(const DeclaredCause& cause, const Settings& settings, double time) {
    WhyStep step;
    step.cause = cause.name;
    step.kind = cause.kind == DeclaredCause::Kind::layout ? "layout" : "cost";
    step.settings = settings;
    step.time = time;
    step.faster = now() / time;
    step.is_named = step.faster >= kNamedGain;
    why_.ladder.push_back(std::move(step));
  }

  void count_work();
  void ask_layouts();
  void ask_costs();
  void say_alone(const Candidate& each, const std::string& not_run);
  void rank_alone(std::vector<Candidate>& all, double off, bool hide);
  Settings with(const DeclaredCause& cause) const { return settings_with(at_, cause.settings); }
  void rank_hidden(std::vector<Candidate>& all);
  void climb(const std::vector<Candidate>& all, double off);
  void ask_dense();
  bool may_be(const DeclaredCause& cause) const;
  bool acts(const DeclaredCause& cause) const;

  const WhyQuestion& question_;
  const WhyRunner& run_;
  std::map<std::string, std::optional<WhyTime>> known_;
  double spent_ = 0;             // time of all runs without costs, over that of the run itself
  Settings at_;                  // the layout at which costs are asked
  std::optional<WhyTime> laid_;  // the run there, if it is another
  const DeclaredCause* laid_by_ = nullptr;  // the layout that was found faster, if any
  Why why_;
};

/// In whatever order settings are said, they are one run.
std::string key_of(WhyAsk ask) {
  sort_all(ask.settings);
  std::string key = std::string(ask.dense ? "dense" : "") + (ask.by_rule ? " by rule" : "");
  for (const std::string& each : ask.settings) key += "\n" + each;
  return key;
}

/// What was run before is not run again.
std::vector<std::optional<WhyTime>> Inquiry::run(const std::vector<WhyAsk>& asks) {
  std::vector<WhyAsk> unknown;
  std::vector<std::string> keys;
  for (const WhyAsk& ask : asks) {
    const std::string key = key_of(ask);
    const bool is_new = !contains(keys, key);
    if (!is_new || known_.count(key) != 0) continue;
    unknown.push_back(ask);
    keys.push_back(key);
  }
  const auto found = unknown.empty() ? std::vector<std::optional<WhyTime>>{} : run_(unknown);
  for (std::size_t i = 0; i < found.size(); ++i) {
    known_[keys[i]] = found[i];
    const bool at_layout = !unknown[i].dense && !unknown[i].by_rule;
    spent_ += at_layout && found[i] ? found[i]->time / now() : 0;
  }
  std::vector<std::optional<WhyTime>> times;
  times.reserve(asks.size());
  for (const WhyAsk& ask : asks) times.push_back(known_.at(key_of(ask)));
  return times;
}

/// Operations follow each other, so that a run without some of them takes the sum of the others.
void Inquiry::count_work() {
  const double rest = now() - question_.without_zeros;
  if (question_.without_zeros == 0 || rest == 0) return;
  WhyStep step;
  step.cause = "operations without zeros";
  step.kind = "work";
  step.time = rest;
  step.faster = now() / rest;
  step.is_named = step.faster >= kLayoutGain;
  why_.work.push_back(std::move(step));
}

void Inquiry::ask_layouts() {
  std::vector<const DeclaredCause*> causes;
  std::vector<WhyAsk> asks;
  const bool ask_dense = question_.has_dense && !question_.dense;
  if (ask_dense) asks.push_back({{}, false, true});  // laid out for itself
  for (const DeclaredCause& cause : question_.causes) {
    if (cause.kind != DeclaredCause::Kind::layout || !acts(cause)) continue;
    causes.push_back(&cause);
    const bool by_rule = cause.settings.empty();
    asks.push_back({by_rule ? Settings{} : with(cause), by_rule, false});
  }
  std::vector<std::optional<WhyTime>> runs = run(asks);
  why_.ladder.front().dense_time = ask_dense ? time_of(runs.front()) : question_.dense;
  if (ask_dense) {
    runs.erase(runs.begin());
    asks.erase(asks.begin());
  }
  std::size_t best = runs.size();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] && (best == runs.size() || runs[i]->time < runs[best]->time)) best = i;
  }
  if (best == runs.size() || now() < kLayoutGain * runs[best]->time) return;
  laid_ = std::move(runs[best]);
  laid_by_ = causes[best];
  at_ = settings_with(asks[best].settings, laid_->layout);
  add_step(*causes[best], at_, laid_->time);
}

/// Whether a setting changes anything here, by the conditions of parameters.
bool Inquiry::acts(const DeclaredCause& cause) const {
  const auto value = [&](const std::string& path) {
    for (const std::string& setting : at_) {
      if (path_of(setting) == path) return setting.substr(path.size() + 1);
    }
    return question_.value(path);
  };
  return cause.settings.empty() || any_of(cause.settings, [&](const std::string& setting) {
           const std::string path = path_of(setting);
           if (value(path) == setting.substr(path.size() + 1)) return false;
           return !any_of(conditions(), [&](const auto& each) {
             return each.path == path && (value(each.other) == each.value) == each.differs;
           });
         });
}

bool Inquiry::may_be(const DeclaredCause& cause) const {
  if (cause.kind != DeclaredCause::Kind::cost || !acts(cause)) return false;
  return cause.shows_as.empty() || share_of(laid(), cause.shows_as) > 0;
}

void Inquiry::say_alone(const Candidate& each, const std::string& not_run) {
  WhyAlone alone{each.cause->name, with(*each.cause), 0, 1, not_run};
  if (each.alone) {
    alone.time = *each.alone;
    alone.faster = now() / *each.alone;
  }
  why_.alone.push_back(std::move(alone));
}

/// Times with each cost alone away: of what adds up and shows in the stack by it, else by runs, as
/// long as one may gain more than the best: of what adds up all that is left of what they gain, of
/// others what its bound has.
void Inquiry::rank_alone(std::vector<Candidate>& all, double off, bool hide) {
  const bool by_runs = !hide && all_of(all, is_run);  // a stack's parts overlap
  double left = now() - off;
  double best = 0;
  const auto take = [&](Candidate& each, double time) {
    each.alone = time;
    left -= std::max(0.0, now() - time);
    best = std::max(best, now() - time);
  };
  for (Candidate& each : all) {
    if (!is_run(each)) take(each, now() * (1 - share_of(laid(), each.cause->shows_as)));
  }
  std::stable_partition(all.begin(), all.end(), [](const auto& each) { return !each.least; });
  for (Candidate& each : all) {
    if (!is_run(each)) {
      say_alone(each, "by the cycle stack, as it adds up");
    } else if (by_runs && kOverlap * left < best) {
      each.least = now() - left;
      say_alone(each, "at most what the others leave");
    } else if (each.least.value_or(0) > kTie * (now() - best)) {
      say_alone(each, "its bound gains less than the first");
    } else if (best > 0 && spent_ > kMostSpent) {
      say_alone(each, kEnough);
    } else if (const std::optional<double> found = time(with(*each.cause))) {
      take(each, *found);
      say_alone(each, "");
    } else {
      say_alone(each, "it cannot be by itself");
    }
  }
  const auto rank = [](const Candidate& each) {
    return each.alone.value_or(each.least.value_or(kUnknown));
  };
  sort_all(all, [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  if (hide && now() < kNamedGain * rank(all.front())) rank_hidden(all);
}

/// Of costs of which none gains by itself: by what remains with each of them only, largest first.
void Inquiry::rank_hidden(std::vector<Candidate>& all) {
  std::vector<WhyAsk> asks;
  for (const Candidate& kept : all) {
    Settings others = at_;
    for (const Candidate& each : all) {
      if (each.cause != kept.cause) others = settings_with(others, each.cause->settings);
    }
    asks.push_back({others, false, false});
  }
  const auto runs = run(asks);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].kept = time_of(runs[i]);
  sort_all(all, [](const Candidate& a, const Candidate& b) {
    return a.kept.value_or(kUnknown) > b.kept.value_or(kUnknown);
  });
}

/// Takes costs away one after the other, until most of what all of them gain is gained. One that
/// gains nothing more behind the first is passed over.
void Inquiry::climb(const std::vector<Candidate>& all, double off) {
  const double from = now();
  Settings settings = at_;
  std::size_t steps = 0;
  for (std::size_t i = 0; i < all.size() && steps < kMostSteps; ++i) {
    const Settings next = settings_with(settings, all[i].cause->settings);
    const std::optional<double> found = time(next);
    if (!found) continue;  // it goes with others only
    if (steps == 1 && why_.ladder.back().is_named && now() < kNamedGain * *found) {
      if (spent_ > kMostSpent) return;
      continue;
    }
    settings = next;
    ++steps;
    add_step(*all[i].cause, settings, *found);
    if (from - *found >= kReached * (from - off)) return;
  }
}

void Inquiry::ask_costs() {
  std::vector<Candidate> all;
  Settings off = at_;
  for (const DeclaredCause& cause : question_.causes) {
    if (!may_be(cause)) continue;
    all.push_back({&cause});
    const auto bound = question_.least.find(cause.name);
    const bool binds = !laid_ && cause.law == DeclaredCause::Law::hides;
    if (binds && bound != question_.least.end()) all.back().least = bound->second;
    off = settings_with(off, cause.settings);
  }
  if (all.empty()) return;
  const std::optional<double> without = time(off);
  if (!without) return;
  if (now() >= kLayoutGain * *without) {
    const bool hide = all.size() > 1 && all_of(all, [](const auto& each) {
                        return each.cause->law == DeclaredCause::Law::hides;
                      });
    rank_alone(all, *without, hide);
    climb(all, *without);
  }
  WhyStep step;
  step.cause = kAllAway;
  step.kind = "cost";
  step.settings = off;
  step.time = *without;
  step.faster = now() / *without;
  why_.ladder.push_back(std::move(step));
}

/// What the layout and the first cost do for the dense run, so that "faster" and "zeros gain" are
/// told apart. It keeps a layout of its own: that of a sparser run would flatter zeros. What takes
/// several times as long as the run is not run again for a cost.
void Inquiry::ask_dense() {
  if (!why_.ladder.front().dense_time) return;
  WhyAsk dense{{}, false, true};
  if (laid_by_ != nullptr) dense = {laid_by_->settings, laid_by_->settings.empty(), true};
  Settings away;
  for (std::size_t i = 1; i < why_.ladder.size(); ++i) {
    WhyStep& step = why_.ladder[i];
    const bool is_cost = step.kind == "cost";
    const Settings more = added_settings(step.settings, why_.ladder[i - 1].settings);
    if (is_cost) away = settings_with(away, more);
    if (!step.is_named) continue;
    if (is_cost && zeros_gain(why_.ladder[i - 1]).value_or(0) > kMostDense) return;
    std::optional<WhyTime> run = this->run({dense}).front();
    if (run && is_cost) {
      const Settings laid = settings_with(dense.settings, run->layout);
      run = this->run({{settings_with(laid, away), false, true}}).front();
    }
    step.dense_time = time_of(run);
    if (is_cost) return;
  }
}

}  // namespace

std::vector<std::string> settings_with(std::vector<std::string> settings,
                                       const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    const auto same = [&](const auto& setting) { return path_of(setting) == path_of(each); };
    find_or_add(settings, same, each) = each;
  }
  return settings;
}

Why find_why(const WhyQuestion& question, const WhyRunner& run) {
  return Inquiry(question, run).ask();
}

}  // namespace lacuna
