"""The univariate data sets of NIST's Statistical Reference Datasets, with certified values.

https://www.itl.nist.gov/div898/strd/univ/homepage.html
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from naively import summarize

LOTTERY = """
162 671 933 414 788 730 817  33 536 875 670 236 473 167 877 980 316 950 456  92 517 557 956 954
104 178 794 278 147 773 437 435 502 610 582 780 689 562 964 791  28  97 848 281 858 538 660 972
671 613 867 448 738 966 139 636 847 659 754 243 122 455 195 968 793  59 730 361 574 522  97 762
431 158 429 414  22 629 788 999 187 215 810 782  47  34 108 986  25 644 829 630 315 567 919 331
207 412 242 607 668 944 749 168 864 442 533 805 372  63 458 777 416 340 436 140 919 350 510 572
905 900  85 389 473 758 444 169 625 692 140 897 672 288 312 860 724 226 884 508 976 741 476 417
831  15 318 432 241 114 799 955 833 358 935 146 630 830 440 642 356 373 271 715 367 393 190 669
  8 861 108 795 269 590 326 866  64 523 862 840 219 382 998   4 628 305 747 247  34 747 729 645
856 974  24 568  24 694 608 480 410 729 947 293  53 930 223 203 677 227  62 455 387 318 562 242
428 968
"""

LEW = """
-213 -564  -35  -15  141  115 -420 -360  203 -338 -431  194 -220 -513  154 -125 -559   92  -21 -579
 -52   99 -543 -175  162 -457 -346  204 -300 -474  164 -107 -572   -8   83 -541 -224  180 -420 -374
 201 -236 -531   83   27 -564 -112  131 -507 -254  199 -311 -495  143  -46 -579  -90  136 -472 -338
 202 -287 -477  169 -124 -568   17   48 -568 -135  162 -430 -422  172  -74 -577  -13   92 -534 -243
 194 -355 -465  156  -81 -578  -64  139 -449 -384  193 -198 -538  110  -44 -577   -6   66 -552 -164
 161 -460 -344  205 -281 -504  134  -28 -576 -118  156 -437 -381  200 -220 -540   83   11 -568 -160
 172 -414 -408  188 -125 -572  -32  139 -492 -321  205 -262 -504  142  -83 -574    0   48 -571 -106
 137 -501 -266  190 -391 -406  194 -186 -553   83  -13 -577  -49  103 -515 -280  201  300 -506  131
 -45 -578  -80  138 -462 -361  201 -211 -554   32   74 -533 -235  187 -372 -442  182 -147 -566   25
  68 -535 -244  194 -351 -463  174 -125 -570   15   72 -550 -190  172 -424 -385  198 -218 -536   96
"""

# The fourth decimal after 2.00.
MAVRO = """
18 17 18 19 18 17 15 14 15 15 17 18 18 19 19 21 20 16 14 13 13 15 15 16 15
14 13 14 15 14 15 16 15 16 19 20 20 21 22 23 24 25 27 26 26 26 27 26 25 24
"""

# Hundredths after 299.
MICHELSO = """
85 74 90 107 93 85 95 98 98 88 100 98 93 65 76 81 100 100 96 96 96 94 96 94 88
80 85 88 90 84 83 79 81 88 88 83 80 79 76 80 88 88 88 86 72 72 62 86 97 95
88 91 85 87 84 84 85 84 84 84 89 81 81 82 80 77 76 74 75 76 91 92 89 86 88
72 84 85 85 78 89 84 78 81 76 81 79 81 82 85 87 87 81 74 81 94 95 80 81 87
"""


def digits_of_pi(n):
    """The first n, by Machin's formula: pi = 16 atan(1/5) - 4 atan(1/239)."""

    def atan_of_inverse(x):
        term = total = Decimal(1) / x
        for k in range(3, 2 * n, 2):  # each term is below a 25th of the one before
            term /= -x * x
            total += term / k
        return total

    with localcontext(prec=n + 20):
        pi = 16 * atan_of_inverse(5) - 4 * atan_of_inverse(239)
        return [int(digit) for digit in str(pi).replace(".", "")[:n]]


def misprinted(digits):
    """As NIST has them: with a 3 for the 8 that is the 957th digit of pi."""
    return [*digits[:956], 3, *digits[957:]]


def numbers_around(middle, step, pairs):
    """The middle, and then so many pairs of what lies a step below and above."""
    return [middle, *[middle - step, middle + step] * pairs]


# Name: the data as decimals, the certified mean and standard deviation.
DATASETS = {
    "PiDigits": (misprinted(digits_of_pi(5000)), "4.53480000000000", "2.86733906028871"),
    "Lottery": (LOTTERY.split(), "518.958715596330", "291.699727470969"),
    "Lew": (LEW.split(), "-177.435000000000", "277.332168044316"),
    "Mavro": (
        [2 + Decimal(x) / 10000 for x in MAVRO.split()],
        "2.00185600000000",
        "0.000429123454003053",
    ),
    "Michelso": (
        [299 + Decimal(x) / 100 for x in MICHELSO.split()],
        "299.852400000000",
        "0.0790105478190518",
    ),
    "NumAcc1": ([10000001, 10000003, 10000002], "10000002", "1"),
    "NumAcc2": (numbers_around(Decimal("1.2"), Decimal("0.1"), 500), "1.2", "0.1"),
    "NumAcc3": (numbers_around(Decimal("1000000.2"), Decimal("0.1"), 500), "1000000.2", "0.1"),
    "NumAcc4": (numbers_around(Decimal("10000000.2"), Decimal("0.1"), 500), "10000000.2", "0.1"),
}
SIZES = [5000, 218, 200, 50, 100, 3, 1001, 1001, 1001]


def correct_digits(value, certified):
    """The log relative error: how many digits of the value are right, 15 at most."""
    error = abs(Decimal(value) - Decimal(certified)) / abs(Decimal(certified))
    return 15.0 if error == 0 else min(15.0, -math.log10(error))


def ours(x):
    """Mean and standard deviation as the library finds them."""
    moments = summarize(x[:, np.newaxis], np.zeros(len(x), int)).moments
    return float(moments.mean[0, 0]), math.sqrt(moments.m2[0, 0] / (len(x) - 1))


def textbook(x):
    """The naive algorithm: the difference of two large sums."""
    variance = (np.sum(x * x) - np.sum(x) ** 2 / len(x)) / (len(x) - 1)
    return float(np.mean(x)), math.sqrt(max(0.0, variance))


def half_a_unit(certified):
    """Half a unit of the 15th digit, the last that is certified."""
    return Fraction(10) ** (Decimal(certified).adjusted() - 14) / 2


@pytest.mark.parametrize(("name", "size"), list(zip(DATASETS, SIZES, strict=True)), ids=DATASETS)
def test_the_data_are_those_that_were_certified(name, size):
    data, mean, sd = DATASETS[name]
    exact = [Fraction(x) for x in data]
    mean_of_data = sum(exact) / len(exact)
    variance = sum((x - mean_of_data) ** 2 for x in exact) / (len(exact) - 1)
    assert len(data) == size
    assert abs(mean_of_data - Fraction(mean)) <= half_a_unit(mean)
    least, most = Fraction(sd) - half_a_unit(sd), Fraction(sd) + half_a_unit(sd)
    assert least**2 <= variance <= most**2


@pytest.mark.parametrize("name", DATASETS)
def test_as_many_digits_are_right_as_in_two_passes_of_numpy(name):
    """Decimals are not doubles: the digits that are lost to that are not whole numbers of them.

    There, one ulp more or less of either is some hundredths of a digit.
    """
    data, mean, sd = DATASETS[name]
    x = np.array(data, dtype=float)
    mean_found, sd_found = ours(x)
    assert correct_digits(mean_found, mean) >= correct_digits(np.mean(x), mean) - 0.05
    assert correct_digits(sd_found, sd) >= correct_digits(np.std(x, ddof=1), sd) - 0.05


@pytest.mark.parametrize("name", ["NumAcc3", "NumAcc4"])
def test_the_difference_of_large_sums_loses_digits(name):
    data, _, sd = DATASETS[name]
    x = np.array(data, dtype=float)
    assert correct_digits(textbook(x)[1], sd) < correct_digits(ours(x)[1], sd) - 3
