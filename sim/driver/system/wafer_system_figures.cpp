// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/driver/system/pictures.hpp"
#include "sim/driver/system/wafer_system_report.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostWafers = 16;

Figure passes_figure(const WaferSystemRun& run, const std::string& title) {
  SpanPicture picture;
  picture.title = {title, "passes of the first wafer, and on the way to the store"};
  picture.track = "track";
  picture.tracks = kPassTracks;
  picture.left = 1.4;
  picture.kinds = {{"forward", "#1f77b4"},    // as PassKind, in the colours of chips with links
                   {"recompute", "#9ecae1"},  //
                   {"backward", "#08519c"},   //
                   {"optimizer", "#6a51a3"},  //
                   {"exchange", "#d62728"}};
  for (const PassBar& bar : pass_bars(run)) {
    const auto kind = static_cast<std::size_t>(run.kinds[bar.pass]);
    picture.bars.push_back({bar.track, kind, bar.from, bar.to});
  }
  return span_figure(picture);
}

Figure wafers_figure(const WaferSystemRun& run, const std::string& title) {
  const std::size_t shown = std::min(run.result.wafers.size(), kMostWafers);
  std::vector<std::vector<std::uint64_t>> ns;
  for (std::size_t i = 0; i < shown; ++i) {
    ns.emplace_back(run.result.wafers[i].begin(), run.result.wafers[i].end());
  }
  const std::string of = shown == run.result.wafers.size() ? "" : "first ";
  return time_figure({title, "where the time of the " + of + "wafers goes"},
                     {{"work", "#1f77b4"},
                      {"weights", "#fdae6b"},
                      {"gradients", "#d62728"},
                      {"sums", "#e6550d"},
                      {"idle", "#e0e0e0"}},
                     ns);
}

Figure wafer_memory_figure(const WaferSystemRun& run, const std::string& title) {
  return places_figure({title, "memory of a wafer"},
                       {{"weights", "#08519c"},
                        {"gradients", "#6baed6"},
                        {"state", "#6a51a3"},
                        {"activations", "#74c476"},
                        {"working", "#fdae6b"}},
                       {{"wafer", memory_places(run).back()}});
}

}  // namespace

std::vector<Figure> wafer_system_figures(const WaferSystemRun& run, const std::string& title) {
  return {passes_figure(run, title), wafers_figure(run, title), wafer_memory_figure(run, title)};
}

}  // namespace lacuna
