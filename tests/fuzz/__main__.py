"""`python -m tests.fuzz calls 10000 [seed]` or `files 10000 [seed]`: many more than the suite makes; prints every fault once."""

import os
import sys
import tempfile
import time

from tests.fuzz import calls, files
from tests.fuzz.guard import fault


def main():
    what, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    faults, slow, begun = {}, [], time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for title, text, call in (calls if what == "calls" else files).schedule(count, seed):
            started = time.process_time()
            wrong = fault(call)
            slow.append((time.process_time() - started, text))
            if wrong:
                key = (title, wrong.split(":")[0] + wrong[:40])
                faults.setdefault(key, []).append(f"{text}\n    {wrong}")
                if len(faults[key]) == 1:
                    print(faults[key][0], flush=True)
    print(
        f"{count} {what}, seed {seed}, {time.perf_counter() - begun:.0f} s: {sum(map(len, faults.values()))} faults of {len(faults)} kinds"
    )
    for seconds, text in sorted(slow, reverse=True)[:5]:
        print(f"{seconds:6.2f} s  {text[:120]}")
    sys.exit(bool(faults))


main()
