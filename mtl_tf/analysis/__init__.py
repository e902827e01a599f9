"""The page of `launch.analyse`: what a finished run learnt and got wrong."""
