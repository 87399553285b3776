// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/result.hpp"

namespace lacuna {

/// A run again, with something taken away or laid out otherwise.
struct WhyStep {
  std::string cause;                  // of this step; empty: the run as it is
  std::string kind;                   // "work", "layout", "cost"; empty likewise
  std::vector<std::string> settings;  // PATH=VALUE of all steps up to here, which replay the run
  double time = 0;
  double faster = 1;                                // than the step before
  std::optional<double> dense_time = std::nullopt;  // of the dense run, laid out for itself
  bool is_named = false;                            // in the sentences
};

/// A cause by itself: the time with it alone taken away, at the layout of the ladder.
struct WhyAlone {
  std::string cause;
  std::vector<std::string> settings;
  double time = 0;
  double faster = 1;
  std::string not_run;  // why it was not; empty: it was
};

/// Why a run is not faster, found by running it again. Every number is of a run, but those of kind
/// "work", which are sums over the operations of one.
struct Why {
  std::string unit = "cycles";  // of all times; or "us"
  std::vector<std::string> sentences;
  std::vector<WhyStep> work;    // operations without zeros left out; none or one
  std::vector<WhyStep> ladder;  // as it is, causes in the order of what they gain, all away
  std::vector<WhyAlone> alone;  // in the order of their machine

  /// The cause that gains most: of work, layout and costs; empty if none gains 3 %.
  std::string first() const;
};

/// The time of the dense run over that of a step; nothing if it was not run.
std::optional<double> zeros_gain(const WhyStep& step);

/// The layout of an operation as settings, if it was chosen, by whomever.
std::vector<std::string> laid_out_by(const OpResult& result);

/// Those of `settings` that are not in `before`.
std::vector<std::string> added_settings(const std::vector<std::string>& settings,
                                        const std::vector<std::string>& before);

/// A step of a ladder as tables have it.
struct LadderLine {
  std::string taken;  // away, or "nothing"
  double time = 0;
  std::string faster;  // empty of the first
  std::string gain;    // of zeros, if it is known
  std::string by;      // what replays it, with the lines above
};
std::vector<LadderLine> ladder_lines(const Why& why);

inline constexpr double kNamedGain = 1.03;  // a step that gains less is not named

/// Settings as options for a shell.
std::string replay_words(const std::vector<std::string>& settings);

/// A time in its unit: "24,845 cycles", "767.5 us"; and without it.
std::string time_text(double time, const std::string& unit);
std::string time_text(double time);

/// Sentences, ladder and single causes as text for a terminal.
std::string why_text(const Why& why);

}  // namespace lacuna
