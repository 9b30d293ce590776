"""The rules on quoting results (R01 to R22), held against what a claims file says and the documents it is about."""
