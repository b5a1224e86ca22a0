"""The commands of `dtvqa data`."""
