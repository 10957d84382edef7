"""The programs at the other end of a run, and the processes that hold them."""
