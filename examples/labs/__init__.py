"""Ten labs as marimo notebooks; `dp-bandit lab` opens them."""
