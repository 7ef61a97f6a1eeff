"""The words everything uses: operations, trails, verdicts, findings."""
