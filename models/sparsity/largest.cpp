// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/largest.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <tuple>

namespace lacuna {
namespace {

// The order of positive doubles is that of their bits: a bin holds those that agree in exponent
// and in the first eight bits behind it.
constexpr unsigned kDropped = 44;
constexpr std::size_t kBins = std::size_t{1} << (63U - kDropped);

std::size_t bin_of(double score) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &score, sizeof bits);
  return static_cast<std::size_t>(bits >> kDropped);
}

struct Candidate {
  double score;
  std::uint32_t row;
  std::uint32_t col;
};

struct Threshold {
  std::size_t bin = kBins;     // above it all are kept
  std::uint64_t from_bin = 0;  // in it so many
};

Threshold find_threshold(RowScores& scores, std::uint64_t keep, std::uint32_t rows) {
  std::vector<std::uint64_t> counts(kBins, 0);
  std::vector<double> row;
  scores.rewind();
  for (std::uint32_t r = 0; r < rows; ++r) {
    scores.next_row(row);
    for (const double score : row) {
      if (score >= 0) ++counts[bin_of(score)];
    }
  }
  Threshold threshold{kBins, keep};
  while (threshold.from_bin != 0 && threshold.bin != 0) {
    --threshold.bin;
    if (counts[threshold.bin] >= threshold.from_bin) break;
    threshold.from_bin -= counts[threshold.bin];
  }
  return threshold;
}

// Joins what is certainly kept in each row with the chosen candidates, both by column.
void merge(const std::vector<std::uint32_t>& sure, const std::vector<std::uint64_t>& sure_ends,
           const std::vector<Candidate>& chosen, Mask& mask) {
  mask.offsets.assign(1, 0);
  mask.columns.reserve(sure.size() + chosen.size());
  std::size_t next_sure = 0;
  auto candidate = chosen.begin();
  for (std::uint32_t r = 0; r < mask.grid_rows(); ++r) {
    for (;;) {
      const bool has_sure = next_sure < sure_ends[r];
      const bool has_candidate = candidate != chosen.end() && candidate->row == r;
      if (!has_sure && !has_candidate) break;
      if (has_sure && (!has_candidate || sure[next_sure] < candidate->col)) {
        mask.columns.push_back(sure[next_sure++]);
      } else {
        mask.columns.push_back((candidate++)->col);
      }
    }
    mask.offsets.push_back(mask.columns.size());
  }
}

/// Matrices on top of each other.
class Stacked : public RowScores {
 public:
  Stacked(const std::vector<RowScores*>& parts, const std::vector<Mask>& masks) : parts_(parts) {
    for (const Mask& mask : masks) rows_.push_back(mask.grid_rows());
  }

  void rewind() override {
    for (RowScores* part : parts_) part->rewind();
    part_ = 0;
    row_ = 0;
  }

  void next_row(std::vector<double>& scores) override {
    while (row_ == rows_[part_]) {
      ++part_;
      row_ = 0;
    }
    parts_[part_]->next_row(scores);
    ++row_;
  }

 private:
  const std::vector<RowScores*>& parts_;
  std::vector<std::uint32_t> rows_;
  std::size_t part_ = 0;
  std::uint32_t row_ = 0;
};

}  // namespace

void choose_largest(RowScores& scores, std::uint64_t keep, Mask& mask) {
  const Threshold threshold = find_threshold(scores, keep, mask.grid_rows());
  std::vector<std::uint32_t> sure;
  std::vector<std::uint64_t> sure_ends;
  std::vector<Candidate> candidates;
  std::vector<double> row;
  scores.rewind();
  for (std::uint32_t r = 0; r < mask.grid_rows(); ++r) {
    scores.next_row(row);
    for (std::uint32_t c = 0; c < row.size(); ++c) {
      if (row[c] < 0) continue;
      const std::size_t bin = bin_of(row[c]);
      if (bin > threshold.bin) sure.push_back(c);
      if (bin == threshold.bin) candidates.push_back({row[c], r, c});
    }
    sure_ends.push_back(sure.size());
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(b.score, a.row, a.col) < std::tie(a.score, b.row, b.col);
  });
  candidates.resize(std::min<std::size_t>(candidates.size(), threshold.from_bin));
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.row, a.col) < std::tie(b.row, b.col);
  });
  merge(sure, sure_ends, candidates, mask);
}

void choose_largest(const std::vector<RowScores*>& scores, std::uint64_t keep,
                    std::vector<Mask>& masks) {
  Mask all;
  for (const Mask& mask : masks) {
    all.rows += mask.grid_rows();
    all.cols = std::max(all.cols, mask.grid_cols());
  }
  Stacked stacked(scores, masks);
  choose_largest(stacked, keep, all);
  std::size_t row = 0;
  for (Mask& mask : masks) {
    const std::uint64_t first = all.offsets[row];
    mask.offsets.assign(1, 0);
    for (std::uint32_t r = 0; r < mask.grid_rows(); ++r) {
      mask.offsets.push_back(all.offsets[++row] - first);
    }
    const auto begin = all.columns.begin();
    mask.columns.assign(begin + static_cast<std::ptrdiff_t>(first),
                        begin + static_cast<std::ptrdiff_t>(all.offsets[row]));
  }
}

}  // namespace lacuna
