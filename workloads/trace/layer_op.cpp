// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

LayerOp::LayerOp() = default;
LayerOp::LayerOp(const LayerOp&) = default;
LayerOp::LayerOp(LayerOp&&) noexcept = default;
LayerOp& LayerOp::operator=(const LayerOp&) = default;
LayerOp& LayerOp::operator=(LayerOp&&) noexcept = default;
LayerOp::~LayerOp() = default;

unsigned bytes_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return 4;
    case DType::fp16:
    case DType::bf16:
      return 2;
    case DType::fp8:
    case DType::int8:
      return 1;
  }
  return 0;
}

const char* word(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return "fp32";
    case DType::fp16:
      return "fp16";
    case DType::bf16:
      return "bf16";
    case DType::fp8:
      return "fp8";
    case DType::int8:
      return "int8";
  }
  return "?";
}

const char* word(Partials partials) {
  switch (partials) {
    case Partials::automatic:
      return "auto";
    case Partials::fp16:
      return "fp16";
    case Partials::fp32:
      return "fp32";
    case Partials::int32:
      return "int32";
  }
  return "?";
}

const char* word(Mode mode) {
  switch (mode) {
    case Mode::automatic:
      return "auto";
    case Mode::dense:
      return "dense";
    case Mode::static_:
      return "static";
    case Mode::dynamic:
      return "dynamic";
    case Mode::streamed:
      return "streamed";
  }
  return "?";
}

const char* word(Residency residency) {
  switch (residency) {
    case Residency::automatic:
      return "auto";
    case Residency::streamed:
      return "streamed";
    case Residency::resident:
      return "resident";
  }
  return "?";
}

const char* word(Phase phase) {
  switch (phase) {
    case Phase::fwd:
      return "fwd";
    case Phase::bwd:
      return "bwd";
    case Phase::upd:
      return "upd";
  }
  return "?";
}

}  // namespace lacuna
