// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <regex>
#include <string>

#include "tests/support/agreement/decoder.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/agreement/training.hpp"

namespace lacuna::test {
namespace {

using system::Held;
using system::Way;

// Entries of a pass add up to its time, its stack and its joules.
TEST(SystemDecoders, TimeStackAndJoulesAreTheSumsOfTheEntries) {
  for_each_draw([](Random& random) {
    const PodPass pass = SmallDecoder(random).pass(64);
    std::uint64_t ns = 0;
    double joules = 0;
    for (const system::Repeat& repeat : pass.program.order) {
      ns += pass.run.segments[repeat.segment].ns * repeat.times;
      joules +=
          pass.program.segments[repeat.segment].joules.nominal * static_cast<double>(repeat.times);
    }
    EXPECT_EQ(ns, pass.run.ns);
    const system::TimeStack stack = pass.run.stack(pass.cut.chips());
    const auto all = std::accumulate(stack.begin(), stack.end(), std::uint64_t{0});
    EXPECT_EQ(all, pass.run.ns * pass.cut.chips());
    EXPECT_NEAR(pass.energy.work().nominal, joules, 1e-12 * joules);
    joules = 0;
    for (const SystemEnergyPart& part : pass.energy.parts) joules += part.joules.nominal;
    EXPECT_NEAR(pass.energy.total().nominal, joules, 1e-12 * joules);
  });
}

// Whatever a layer streams to a chip has its place in the tiles of that chip.
TEST(SystemDecoders, WhatComesIntoAChipHasAPlaceInItsMemory) {
  for_each_draw([](Random& random) {
    SmallDecoder decoder(random);
    decoder.set("inference.weights=streaming").set("inference.cache=streaming");
    if (random.bounded(2) == 0) decoder.set("inference.io_tiles=4");
    const PodPass pass = decoder.pass(64);
    const std::uint64_t chips = pass.cut.chips();
    for (const system::Segment& segment : pass.program.segments) {
      std::vector<std::uint64_t> comes(chips);
      for (const system::Transfer& transfer : segment.transfers) {
        if (transfer.way == Way::load) comes.at(transfer.to) += transfer.bytes;
      }
      for (std::uint64_t chip = 0; chip < chips; ++chip) {
        const system::MemoryUse& tile = pass.memory.at(chip / pass.cut.tensor).use;
        EXPECT_GE(48 * (tile.of(Held::weights) + tile.of(Held::cache)), comes[chip]);
      }
    }
    EXPECT_GT(bytes_of(pass.program, Way::load), 0U);
  });
}

// What streams lies in the memory of its machine: without a cache there it is what a pass loads. A
// memory with as much room is enough, one with a byte less is not.
TEST(SystemDecoders, WhatStreamsHasItsPlaceAndAByteLessIsRefused) {
  for_each_draw([](Random& random) {
    SmallDecoder decoder(random);
    decoder.model.width = 256;
    decoder.model.ffn = 1024;  // more than 1 MB, which a machine has at least
    decoder.set("inference.weights=streaming").set("inference.tensor=1");
    decoder.set("inference.pipeline=1");
    const bool cache = random.bounded(2) == 0;
    if (cache) decoder.set("inference.cache=streaming");
    const PodPass pass = decoder.pass(64);
    const std::uint64_t loaded = bytes_of(pass.program, Way::load);
    const std::uint64_t stored = bytes_of(pass.program, Way::store);
    EXPECT_EQ(pass.streaming.bytes, loaded + stored) << "the whole cache is read or written";
    const auto refusal = [&](std::uint64_t bytes) {
      SmallDecoder limited = decoder;
      limited.set(fmt::format("gateway.ddr_gb={:.9f}", static_cast<double>(bytes) * 1e-9));
      return limited.refusal(64);
    };
    EXPECT_EQ(refusal(pass.streaming.bytes), "");
    EXPECT_NE(refusal(pass.streaming.bytes - 1), "");
  });
}

// What is refused with a number of positions runs with that many, and with none more.
TEST(SystemDecoders, TheAdviceOfARefusalRunsAndOneMoreDoesNot) {
  std::uint64_t followed = 0;
  for_each_draw([&](Random& random) {
    SmallDecoder decoder(random);
    decoder.set("chip.tile.memory.kib=" + std::to_string(100 + random.bounded(16)));
    const std::string refused = decoder.refusal(40'000);
    std::smatch found;
    if (!std::regex_search(refused, found, std::regex("the nearest that fits: ([0-9]+) "))) return;
    const auto most = static_cast<std::uint32_t>(std::stoul(found[1]));
    EXPECT_EQ(decoder.refusal(most), "") << refused;
    EXPECT_NE(decoder.refusal(most + 1), "") << refused;
    ++followed;
  });
  EXPECT_GE(5 * followed, draws()) << "too few of them hold any position";
}

// A context of as many positions as are said to fit runs, and one more does not, unless the model
// takes no more.
TEST(SystemDecoders, ThePositionsThatFitRunAndOneMoreDoesNot) {
  std::uint64_t bounded = 0;
  for_each_draw([&](Random& random) {
    SmallDecoder decoder(random);
    decoder.set("chip.tile.memory.kib=" + std::to_string(100 + random.bounded(16)));
    if (!decoder.refusal(64).empty()) return;
    const auto most = static_cast<std::uint32_t>(decoder.decode(64).of("positions_that_fit"));
    EXPECT_EQ(decoder.refusal(most), "");
    if (most == decoder.model.positions) return;
    EXPECT_NE(decoder.refusal(most + 1), "");
    ++bounded;
  });
  EXPECT_GE(5 * bounded, draws()) << "too few of them are full";
}

// By default fewer weights never give fewer tokens a second, of the mean of five seeds: zeros that
// a row keeps as numbers are a layout of it. Two in a hundred are what a drawn mask explains.
TEST(SystemDecoders, FewerWeightsNeverGiveFewerTokens) {
  for_each_draw([](Random& random) {
    const SmallDecoder decoder(random);
    double before = 0;
    for (const char* const density : {"1", "0.5", "0.25", "0.1", "0.05", "0"}) {
      const bool dense = std::string(density) == "1";
      const std::string pattern = dense ? "dense" : std::string("block16:") + density;
      const std::uint64_t seeds = dense ? 1 : 5;  // a dense one draws nothing
      double sum = 0;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        sum += decoder.decode(64, pattern, seed).of("tokens_per_s");
      }
      const double mean = sum / static_cast<double>(seeds);
      EXPECT_GE(mean, 0.98 * before) << density;
      before = mean;
    }
  });
}

}  // namespace
}  // namespace lacuna::test
