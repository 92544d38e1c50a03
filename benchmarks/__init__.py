"""What speed is claimed on: `python -m benchmarks` measures the server against two floors."""
