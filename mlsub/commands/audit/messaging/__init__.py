"""The rules on quoting results (R01 to R22), applied to what a claims file says and to the documents it is about."""
