"""Makes the modules of the folder above importable, where the model is built."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import tensor_file  # noqa: E402, F401
import weights  # noqa: E402, F401
