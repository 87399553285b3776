#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes traces/requests/thousand.csv: arrivals of a Poisson process, log-normal lengths. The random
numbers are those of a linear congruential generator, the same everywhere."""

import math

STATE = [1]


def draw():
    STATE[0] = (6364136223846793005 * STATE[0] + 1442695040888963407) % 2**64
    return ((STATE[0] >> 11) + 0.5) / 2**53


def tokens(median, most):
    normal = math.sqrt(-2 * math.log(draw())) * math.cos(2 * math.pi * draw())
    return max(1, min(most, round(median * math.exp(0.6 * normal))))


def main():
    print("# SPDX-License-Identifier: Apache-2.0")
    print("# 1,000 requests, made for this project: arrivals at random (Poisson), 5 in a second in the mean;")
    print("# prompts and outputs log-normal, medians 256 and 96 tokens, deviation 0.6, at most 1,024 and 512.")
    print("arrival,prompt,output")
    arrival = 0.0
    for _ in range(1000):
        arrival += -math.log(draw()) / 5
        print(f"{arrival:.6f},{tokens(256, 1024)},{tokens(96, 512)}")


main()
