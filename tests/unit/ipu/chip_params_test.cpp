// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/chip_params.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

TEST(ChipParams, MatrixUnitsThatAreNoPowerOfTwoAreRefusedWithWhatIsAllowed) {
  EXPECT_NO_THROW(ChipParams().check());
  for (const unsigned macs : {2U, 24U, 100U}) {
    ChipParams params;
    params.tile.amp.fp16_macs = macs;
    try {
      params.check();
      ADD_FAILURE() << macs;
    } catch (const ParameterError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("tile.amp.fp16_macs = " + std::to_string(macs)), std::string::npos);
      EXPECT_NE(text.find("allowed are 4, 8, 16"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace lacuna::ipu
