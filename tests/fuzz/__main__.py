"""Run the targets and the laws in turn, round after round, each round by the next seed."""

import argparse
import secrets
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path

from tests.fuzz import TARGETS
from tests.fuzz.search import search

EXAMPLES = 200  # of one target in one round
LAWS = "laws"  # every test that draws its inputs: among the tests, it draws the same ones each time


def main():
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--seed", type=int, help="of the first round; a new one by default")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument(
        "--target", choices=[*TARGETS, LAWS], action="append", help="may be repeated"
    )
    given = parser.parse_args()
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    warnings.simplefilter("error", RuntimeWarning)  # a number went wrong and nobody said so
    sys.exit(rounds(given.target or [*TARGETS, LAWS], seed, 60 * given.minutes))


def rounds(targets, seed, seconds):
    """Fuzz until the time is over; return the number of targets that failed."""
    print(f"seed {seed}", flush=True)
    end, failed, n = time.monotonic() + seconds, {}, 0
    while n == 0 or (time.monotonic() < end and len(failed) < len(targets)):
        for target in targets:
            if target not in failed and (n == 0 or time.monotonic() < end):
                failed |= attempt(target, seed + n)
        n += 1
    print(f"{n} rounds, {len(failed)} of {len(targets)} targets failed: {', '.join(failed)}")
    return len(failed)


def attempt(target, seed):
    """Search once; tell the minimal input that fails, and how to see it again."""
    start = time.monotonic()
    try:
        check_laws(seed) if target == LAWS else search(target, seed, EXAMPLES)
    except Exception:
        traceback.print_exc()
        again = f'make fuzz ARGS="--target {target} --seed {seed} --minutes 0"'
        print(f"{target} failed with seed {seed}; again: {again}", flush=True)
        return {target: seed}
    print(f"{target}, seed {seed}: {time.monotonic() - start:.1f} s", flush=True)
    return {}


def check_laws(seed):
    """Run the tests that draw their inputs, by a seed instead of the inputs of every run."""
    files = [path for path in Path("tests").rglob("test_*.py") if "@given" in path.read_text()]
    drawn = ["-m", "hypothesis", "--hypothesis-profile=search", f"--hypothesis-seed={seed}"]
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run([*pytest, *drawn, *sorted(map(str, files))], check=True)


if __name__ == "__main__":
    main()
