"""What DT-VQA is: subsets, prompts, released files and the form of their records."""
