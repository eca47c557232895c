#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the images and the IDX file beside it: python3 -m pip install pillow numpy"""
import gzip
import pathlib

import numpy
from PIL import Image

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 19, 13
y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
rgb = numpy.stack([x * 10, y * 12, x + y], -1).astype(numpy.uint8)
grey = (x * 5 + y * 3).astype(numpy.uint8)
alpha = numpy.where(x > 9, 255, 0).astype(numpy.uint8)

Image.fromarray(rgb).save(HERE / "rgb.png")
Image.fromarray(grey).save(HERE / "grey.png")
Image.fromarray(numpy.dstack([rgb, alpha])).save(HERE / "rgba.png")
Image.fromarray(numpy.dstack([grey, alpha]), "LA").save(HERE / "la.png")
Image.fromarray((grey.astype(numpy.uint16) * 257)).save(HERE / "grey16.png")
palette = Image.fromarray((x % 4).astype(numpy.uint8), "P")
palette.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7])
palette.save(HERE / "palette.png")
Image.fromarray(rgb).save(HERE / "rgb.jpg", quality=98, subsampling=0)
Image.fromarray(rgb).save(HERE / "progressive.jpg", quality=98, subsampling=0, progressive=True)
Image.fromarray(grey).save(HERE / "grey.jpg", quality=98)
Image.fromarray(rgb).convert("CMYK").save(HERE / "cmyk.jpg")

with gzip.GzipFile(HERE / "u8.idx.gz", "wb", mtime=0) as file:
    file.write(bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4]) + bytes(range(24)))
