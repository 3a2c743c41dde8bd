"""How good and how private a synthetic set is: nine metrics, two attacks, one scorecard."""
