// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/parameter.hpp"

namespace lacuna::wse {

/// Which zeros a decode layer leaves out: instructions of inputs that are zero, zeros of the hidden
/// vector on its way between blocks, or both.
enum class LlmSkip : std::uint8_t { none, act, traffic, both };

/// How a core has weights with zeros: as lists, with their zeros as if there were none, or as is
/// sooner done.
enum class WeightForm : std::uint8_t { sooner, listed, dense };

/// What compiled code of transformer inference does where no source counts its instructions. Each
/// is a property of a function, wherever it is used.
struct InferenceParams : ParameterSet {
  Param<unsigned> groups = param(
      this, "groups", 0U, range(0U, 4096U), "groups",
      "First level of the sums along a line of cores. 0: the whole number of equal groups nearest "
      "to the root of the cores (EPCC, WaferLLM), or the root where none is near.");
  Param<unsigned> sum_step =
      param(this, "sum_step", 42U, range(0U, 1024U), "cycles",
            "Scalar code of each of the three steps of a sum along a line before its instructions: "
            "which part a core has, and the lengths of its descriptors (chosen by W3S-AR-256).");
  Param<bool> unrolled =
      flag(this, "unrolled", true,
           "Whether loops over tensor instructions are written out (inferred: 15 to 25 cycles an "
           "input of a matrix-vector product). Off: each pays scalar.loop.");
  Param<bool> moving_descriptors =
      flag(this, "moving_descriptors", true,
           "Whether descriptors of a matrix-vector product stay in their registers and move on by "
           "themselves from input to input, as in a mapped loop (EPCC: the loop is one; inferred: "
           "what it compiles to). Of listed weights what a list says is written in a descriptor "
           "that stands, scalar.dsr_write for each field (inferred, confidence L). Off: each input "
           "loads both.");
  Param<unsigned> route_write = param(
      this, "route_write", 37U, range(0U, 1024U), "cycles",
      "Rewriting the route of a color before sums turn to another axis, five of them for a whole "
      "line, three "
      "within a band (chosen by the phases that end with it, see describe trust).");
  Param<unsigned> exp_degree =
      param(this, "exp_degree", 3U, range(1U, 12U), "",
            "Exponential in single precision: degree of the polynomial in x / 2^exp_squarings "
            "(inferred: only that it is a polynomial is said; with four squarings the one of "
            "fewest cycles that is off by less than what a half rounds away, 2^-11).");
  Param<unsigned> exp_squarings = param(this, "exp_squarings", 4U, range(0U, 12U), "",
                                        "The same: squarings of what the polynomial gives.");
  Param<unsigned> exp_positions = param(
      this, "exp_positions", 32U, range(0U, 65536U), "positions",
      "Exponentials of decoding are taken of the vector that a core's cache has room for, empty "
      "places too: of so many positions of each head at least where nothing says how long "
      "sequences get (32: 8,192 positions on 256 rows, as EPCC's engine is placed; that the vector "
      "has this length is inferred, confidence L). 0: of the context's.");
  Param<unsigned> select_logit = param(
      this, "select_logit", 42U, range(1U, 1024U), "cycles",
      "Scalar code that compares a logit with the least of the best so far (chosen by the share of "
      "the tail in a free step of Qwen3-1.7B, 18 %).");
  Param<unsigned> stream_rate = param(
      this, "stream_rate", 798U, range(1U, 1000000U), "MB/s",
      "What one stream of a host brings keys and values with, or takes (a quarter of the rate "
      "of LLM-KVIN-2048, 3.19 GB/s).");
  Param<unsigned> attention_code =
      param(this, "attention_code", 22400U, range(0U, 65536U), "B",
            "Code of a core that has attention parts of layers, from a compiled model (EPCC).");
  Param<unsigned> ffn_code =
      param(this, "ffn_code", 11100U, range(0U, 65536U), "B", "The same of feed-forward parts.");
  Param<LlmSkip> skip = param(
      this, "skip", LlmSkip::none,
      Choices<LlmSkip>{{"none", LlmSkip::none},
                       {"act", LlmSkip::act},
                       {"traffic", LlmSkip::traffic},
                       {"act+traffic", LlmSkip::both}},
      "Zeros that a model leaves out. act: each input of a product with zeros is compared with "
      "zero (scalar.load, scalar.dependent, scalar.branch_not or branch_taken), and has no "
      "instruction if it is. traffic: hidden vectors between blocks travel as a count and, where "
      "that is shorter, as words of index and value; compacting and spreading are scalar loops.");
  Param<WeightForm> weight_form = param(
      this, "weight_form", WeightForm::sooner,
      Choices<WeightForm>{{"auto", WeightForm::sooner},
                          {"listed", WeightForm::listed},
                          {"dense", WeightForm::dense}},
      "How cores have weights with zeros. listed: as lists of what is there. dense: with their "
      "zeros, all of them multiplied. auto: each matrix as lists, unless the core whose lists "
      "take longest would be done sooner without, and then a core can hold it.");
  Param<bool> list_free =
      flag(this, "list_free", false,
           "Idealised: code reads no lists of weights; it knows what is there at once.");
  Param<unsigned> silu_terms = param(
      this, "silu_terms", 3U, range(1U, 8U), "",
      "SiLU in single precision: terms beyond the first of the odd polynomial of the sigmoid, "
      "three for the degree of 6 and more that is said (EPCC).");
};

}  // namespace lacuna::wse
