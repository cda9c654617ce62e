"""Does a query bring back the memories it should? Sets of queries with known answers, asked of throw-away minds.

`metrics` holds the figures, `recall` the operation. No set and no mind of a person is kept here.
"""
