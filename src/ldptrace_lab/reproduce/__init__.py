"""Every table and figure of the paper's section 6, measured again."""
