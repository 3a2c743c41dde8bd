"""NGRAM (Cunningham et al., PVLDB 14(11), 2021), the method that the paper compares with."""
