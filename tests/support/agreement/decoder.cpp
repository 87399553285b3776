// SPDX-License-Identifier: Apache-2.0
#include "tests/support/agreement/decoder.hpp"

#include <map>
#include <memory>

#include "sim/base/error.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna::test {

namespace {

const Pricing& decoder_prices() {
  static const Pricing pricing(config_folder());
  return pricing;
}

/// Rows that were simulated with one seed are known to all decoders.
ChipTimes& times_of(std::uint64_t seed) {
  static std::map<std::uint64_t, std::unique_ptr<ChipTimes>> all;
  std::unique_ptr<ChipTimes>& kept = all[seed];
  if (kept == nullptr) kept = std::make_unique<ChipTimes>(decoder_prices(), seed, Engine::event);
  return *kept;
}

}  // namespace

SmallDecoder::SmallDecoder(Random& random) : model(find_model_shape("qwen3-0.6b")) {
  model.name = "drawn";
  model.kv_heads = pick<std::uint32_t>(random, {1, 2, 4});
  model.heads = model.kv_heads * upto(random, 2);
  model.head_dim = model.rotated = 32;
  model.width = 64 * upto(random, 4);
  model.ffn = 64 * upto(random, 6);
  model.layers = upto(random, 6);
  model.vocabulary = 512;
  settings_ = {"chip.ipu.tiles=" + pick<std::string>(random, {"16", "32", "48"})};
}

SmallDecoder& SmallDecoder::set(const std::string& setting) {
  const std::string prefix = "inference.";
  if (setting.rfind(prefix, 0) != 0) {
    settings_.push_back(setting);
    return *this;
  }
  const std::size_t at = setting.find('=');
  params.set(setting.substr(prefix.size(), at - prefix.size()), setting.substr(at + 1));
  return *this;
}

PodModel SmallDecoder::made(const std::string& pattern, std::uint64_t seed) const {
  PodSetup setup{standard_machines(),
                 decoder_prices(),
                 times_of(seed),
                 make_system("pod4", settings_),
                 false,
                 params,
                 model,
                 parse_pattern(pattern),
                 {},
                 Engine::event};
  return PodModel(std::move(setup));
}

PodPass SmallDecoder::pass(std::uint32_t context) const {
  PassRequest request;
  request.context = request.capacity = context;
  return made("dense", 1).pass(request);
}

ModelReport SmallDecoder::decode(std::uint32_t context, const std::string& pattern,
                                 std::uint64_t seed) const {
  return made(pattern, seed).decode_report(context, 1);
}

std::string SmallDecoder::refusal(std::uint32_t context) const {
  try {
    pass(context);
    return "";
  } catch (const OutOfMemoryError& error) {
    return error.what();
  }
}

}  // namespace lacuna::test
