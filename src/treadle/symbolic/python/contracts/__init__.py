"""Contracts of icontract and deal, as the machine runs them."""
