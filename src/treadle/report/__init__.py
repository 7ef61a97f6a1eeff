"""What a person gets: console, explanation, diagrams, curves. Renders results; decides nothing."""
