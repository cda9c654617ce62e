"""The parts of `tests/bench/speed.py`: invented minds, and one module for each thing that is measured."""
