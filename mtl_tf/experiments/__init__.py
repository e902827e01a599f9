"""Many runs: tables of papers, sweeps, transfer."""
