"""Scripts run by Node, in which what a browser will run is tried."""

import json
import subprocess
from pathlib import Path


def ask_node(script: Path, **order):
    """What a script answers to an order: JSON on its standard input and output."""
    done = subprocess.run(
        ["node", str(script)],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
