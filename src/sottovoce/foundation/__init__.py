"""What every room uses and none owns: argument checks, atomic files, numbers in text, progress."""
