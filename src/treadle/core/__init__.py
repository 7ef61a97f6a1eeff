"""The words everything uses: operations and their dependency, trails, verdicts, findings."""
