#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws harbour.ppm, the picture that 11_image works on: an evening sky, a sun, water and three sails."""
import math
import sys

WIDTH, HEIGHT, HORIZON = 192, 128, 72


def sky(x, y):
    t = y / HORIZON
    sun = math.hypot(x - 140, y - 52)
    glow = 120 * math.exp(-sun / 22)
    if sun < 9:
        return 255, 236, 190
    return 40 + 120 * t + glow, 60 + 70 * t + 0.7 * glow, 110 + 20 * t + 0.2 * glow


def water(x, y):
    depth = (y - HORIZON) / (HEIGHT - HORIZON)
    wave = 14 * math.sin(y * y * 0.05 + x * 0.35) * math.sin(x * 0.11 + y)
    glitter = 70 * math.exp(-abs(x - 140) / (6 + 20 * depth)) * (0.5 + 0.5 * math.sin(y * 2.1))
    return 30 + wave + glitter + 20 * depth, 50 + wave + 0.7 * glitter, 80 + wave + 25 * depth


def sail(x, y):
    for mast, top, size in ((40, 30, 46), (84, 44, 30), (112, 52, 20)):
        rise = y - top
        if 0 <= rise < size and 0 <= x - mast <= rise * 0.45:
            return 228 - rise, 222 - rise, 205 - rise
        if size <= rise < size + size // 6 and -size // 5 <= x - mast <= size * 0.55:
            return 60, 34, 26
    return None


def main():
    rows = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            color = sail(x, y) or (sky(x, y) if y < HORIZON else water(x, y))
            rows += bytes(max(0, min(255, int(c))) for c in color)
    with open(sys.argv[1] if len(sys.argv) > 1 else "harbour.ppm", "wb") as file:
        file.write(f"P6\n{WIDTH} {HEIGHT}\n255\n".encode() + rows)


main()
