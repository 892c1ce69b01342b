"""Tests of what the labs share: verdicts, checks of answers, the list, how they are opened."""
