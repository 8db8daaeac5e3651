"""What is not collected: the script that writes the fixtures, which needs TensorFlow."""

collect_ignore = ["fixture_operations.py", "make_fixtures.py", "fixture_ragged.py", "fixture_texts.py"]
