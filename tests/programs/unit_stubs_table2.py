"""Table 2 of the paper as a stub file: the five cases of `arraycopy`, which is native.

The paper's cases exclude each other, so their order is free; here those that ask least come first. Its last case
copies one element: that is all that a loop bound of 1 needs.
"""

from treadle.stubs import case


@case("unit_native.arraycopy", when=lambda n: n == 0)
def nothing_to_copy(src, dst, n):
    return None


@case("unit_native.arraycopy", when=lambda n: n < 0)
def negative_length(src, dst, n):
    raise ArithmeticError("negative length")


@case("unit_native.arraycopy", when=lambda src: src is None)
def no_source(src, dst, n):
    raise TypeError("null array")


@case("unit_native.arraycopy", when=lambda src, dst: dst is None and len(src) > 0)
def no_destination(src, dst, n):
    raise TypeError("null array")


@case("unit_native.arraycopy", when=lambda src, dst, n: n == 1 and len(src) > 0 and len(dst) > 0)
def one_element(src, dst, n):
    dst[0] = src[0]
