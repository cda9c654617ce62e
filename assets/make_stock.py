"""Stock queries as recall is asked them: terms and unit vectors, for what a mind does not know (nebula/calibration.py).

    python assets/make_stock.py

Reads stock/queries.jsonl, writes stock/stock.safetensors; the same bytes each time on one processor.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nebula import calibration
from nebula.encoder import open_encoder
from nebula.mindlib import tensors
from nebula.settings import RecallSettings


def main() -> None:
    """Write the file beside the queries."""
    encoder = open_encoder()
    made = calibration.make(calibration.queries(), encoder, RecallSettings())
    arrays = {
        "kind": made.kind,
        "vectors": made.vectors.astype(np.float16),
        "terms": made.terms,
        "asked": made.asked,
        "starts": made.starts,
    }
    path = Path(__file__).parent / "stock" / "stock.safetensors"
    tensors.write(path, arrays, {"key": encoder.key, "tokens": RecallSettings().tokens})
    print(f"{path.name}: {len(made.kind)} queries, {len(made.terms)} terms, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
