"""Answers worked by hand: lessons 01 to 06.

[derived] Each is plain arithmetic with the numbers of one student, in SI units, written from the
text of the exercise. Nothing here comes from the package.
"""

from __future__ import annotations

from math import sqrt


def at(answer: float, **values: float) -> tuple[float, dict[str, float]]:
    """Return an answer with the numbers it belongs to."""
    return answer, values


T1 = 24 * 64e3 + 8e3  # 24 channels of 64 kbit/s, and 8 kbit/s of framing

WORKED = {
    "TR1": [
        at(0.1 + 4.0, N=5e6, R=1e7, d=0.1),  # 40 Mbit take 4 s
        at(0.25 + 1.28, N=8e6, R=5e7, d=0.25),
    ],
    "TR2": [
        at((0.1 + 4) / (0.1 + 0.8), N=1e6, R=2e6, d=0.1, k=5),
        at((0.05 + 1.6) / (0.05 + 0.08), N=2e6, R=1e7, d=0.05, k=20),
    ],
    "TR3": [
        at(10 * (0.05 + 0.04), n=10, S=5e4, R=1e7, r=0.05),
        at(6 * 0.1 + 6 * 0.16, n=6, S=1e5, R=5e6, r=0.1),
    ],
    "TR4": [
        at(8e6 / 0.9, N=1e6, R=1e7, d=0.1),  # 0.1 s and 0.8 s
        at(1.6e6 / (0.05 + 0.016), N=2e5, R=1e8, d=0.05),
    ],
    "TR5": [at(37_500, R=1e7, d=0.03), at(250_000, R=1e8, d=0.02)],
    "TR6": [at(0.03 + 0.8, R=1e7), at(0.03 + 0.08, R=1e8)],
    "UN1": [at(12_500_000 / 1_048_576, R=1e8), at(62_500_000 / 1_048_576, R=5e8)],
    "PR1": [at(0.06, D=6e6), at(0.005, D=5e5)],
    "PR2": [at(3e7, D=6e6, R=1e9), at(2.5e6, D=5e6, R=1e8)],
    "RT1": [
        at(0.02 + 2 * 1024 / 64e3, s=100, R=64e3, r=0.02),  # 128 bytes are 1024 bits
        at(0.05 + 2 * 4224 / 256e3, s=500, R=256e3, r=0.05),
    ],
    "RT4": [at(0.02 + 2 * 8224 / T1, s=1000), at(0.02 + 2 * 4224 / T1, s=500)],
    "SA1": [at(143_144e3 / 299_792_458, h=35_786e3), at(2_200e3 / 299_792_458, h=550e3)],
    "SF1": [
        at(13 * 0.0096, L=1200, m=12, R=1e6),
        at(4 * 8000 / T1, L=1000, m=3, R=T1),
    ],
    "SF2": [
        at((3 + 9) * 0.008, P=10, L=1000, m=2, R=1e6),
        at((5 + 4) * 0.006, P=5, L=1500, m=4, R=2e6),
    ],
    "SF3": [
        at(0.002 + 0.008 + 9 * 0.008, P=10, L=1000, R1=4e6, R2=1e6),
        at(0.006 + 0.002 + 4 * 0.006, P=5, L=1500, R1=2e6, R2=6e6),
    ],
    "SF4": [
        at((64 + 1000) * 8e-7, L=1000, R=1e7, h=64),
        at((128 + 1500) * 8e-8, L=1500, R=1e8, h=128),
    ],
    "SF5": [at(sqrt(2e7), M=1e6, h=40, k=3), at(sqrt(20e6), M=4e6, h=20, k=5)],
    "RT2": [at(0.004, a1=5, ra=0.012, rb=0.020), at(0.0255, a1=7, ra=0.049, rb=0.1)],
    "PP1": [
        at(12_000 / 0.001, L=1500, R1=1e8, g=0.001),
        at(8_000 / 0.0005, L=1000, R1=1e9, g=0.0005),
    ],
    "PP2": [at(1.6e6, s1=5e-6, s2=10e-6), at(8e6, s1=1e-6, s2=2e-6)],
    "FR1": [at(1e8 / 672, L=64, R=1e8), at(1e9 / 4256, L=512, R=1e9)],
    "FR2": [at(1e8 / 672, C=60, R=1e8), at(1e9 / 4192, C=500, R=1e9)],
    "FR3": [at(1e7 / 3168, G=1e7, C=450), at(2e6 / 1168, G=2e6, C=200)],
    "FR4": [
        at(1 / (50e-6 + 60e-6), a=50e-6, b=60e-9, R=1e9, L=1000),
        at(1 / (20e-6 + 10e-6), a=20e-6, b=100e-9, R=1e9, L=100),
    ],
    "FR5": [at(20_000 * 11_680, p=30_000), at(6_000 * 11_680, p=9_000)],
    "FR6": [at(148_000 * 672, p=148_000, L=64), at(100_000 * 4256, p=1e5, L=512)],
    "OV1": [at(1e8 * 724 / 769, R=1e8), at(1e9 * 724 / 769, R=1e9)],  # 1448 / 1538
    "OV2": [at(1e8 * 100 / 166, N=100, R=1e8), at(1e9 * 512 / 578, N=512, R=1e9)],
    "SW1": [
        at(23, N=1400, c=0.005, R=5e7),  # 250,000 bits in pieces of 11,200: 22.3
        at(50, N=1000, c=0.02, R=2e7),
    ],
    "CR1": [
        at(125 - 20, p=1e5, R=1e8),
        at(1e9 / 1_600_000 - 20, p=2e5, R=1e9),
    ],
    "FG1": [at(1472, M=1500), at(548, M=576)],
    "FG2": [
        at(81, N=22_000, M=296),  # 22,008 bytes in pieces of 272: 80.9
        at(224, N=50_000, M=250),  # 50,008 are 223 pieces of 224 and a rest of 56
    ],
    "FG3": [
        at(1 - 0.98**6, p=0.02, k=6),
        at(1 - 0.9025**2, p=0.05, k=4),
    ],
    "FG4": [
        at(8208 + 6 * 58, N=8200),  # 8208 bytes in pieces of 1480: 5.5
        at(4008 + 3 * 58, N=4000),
    ],
    "FG5": [at(1480, M=1506), at(552, M=576 + 1)],
    "MB1": [at(50, N=150), at(99, N=199)],
    "MB2": [
        at(128 + 2 * 2176, N=3000),
        at(128 + 5 * 2176, N=9000),
    ],
    "HS1": [at(0.3, r=0.1), at(0.075, r=0.025)],
    "HS2": [at(0.72, k=6, r=0.06), at(0.16, k=4, r=0.02)],
    "HS3": [at(0.25, r=0.05, s=0.05), at(0.58, r=0.12, s=0.1)],
    "HO1": [
        at(20e-6, Na=500, Nb=1500, ta=25e-6, tb=35e-6),  # 10 ns a byte
        at(30e-6, Na=200, Nb=2200, ta=34e-6, tb=74e-6),  # 20 ns a byte
    ],
    "HO2": [
        at(10e-9, Na=500, Nb=1500, ta=25e-6, tb=35e-6),
        at(20e-9, Na=200, Nb=2200, ta=34e-6, tb=74e-6),
    ],
    "HO3": [at(70, k=10), at(707, k=101)],
    "WI1": [at(125_000, R=1e7, r=0.1), at(2_500_000, R=1e9, r=0.02)],
    "WI2": [
        at(5_120_000, W=64_000, r=0.1, R=1e8),
        at(1_600_000, W=10_000, r=0.05, R=1e9),
    ],
    "WI3": [
        at(25_600_000, n=5, R=1e8, W=64_000, r=0.1),
        at(6_400_000, n=4, R=1e9, W=10_000, r=0.05),
    ],
    "UD1": [
        at(4560 * 8000 / 10, n=5000, N=1000, s=10, l=440),
        at(1800 * 4000 / 4, n=2000, N=500, s=4, l=200),
    ],
    "AS1": [at(500e3 / 672 * 23_360, U=5e5), at(128e3 / 672 * 23_360, U=128e3)],
    "JF1": [
        at(11_176, N=1e8, M=9000),  # 8948 bytes in a segment: 11,175.7
        at(6_907, N=1e7, M=1500),  # 1448 bytes in a segment: 6906.1
    ],
    "HC1": [
        at(1118 * 10e-6 + 10e6 * 2e-9, a=10e-6, b=2e-9, N=1e7, M=8948),  # 1117.6 segments
        at(3732 * 5e-6 + 2e6 * 10e-9, a=5e-6, b=10e-9, N=2e6, M=536),  # 3731.3 segments
    ],
    "WS1": [
        at(4, W=1e6),  # 15.3 times 65,535
        at(8, W=12.5e6),  # 190.7 times
    ],
}
"""Two sets of numbers for each exercise, with the answer."""
