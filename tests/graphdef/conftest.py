"""What is not collected: the script that writes the fixtures, which needs TensorFlow."""

collect_ignore = ["make_fixtures.py"]
