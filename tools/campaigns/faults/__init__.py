"""Commands that write, killed and refused at each step: what they leave is the old state or the new one."""
