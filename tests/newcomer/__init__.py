"""What a newcomer types: every command of every page, from the wheel, in an empty home.

``python -m tests.newcomer WHEEL`` installs the wheel with the lines that the pages print, types what they say at 80
columns, piped, in a terminal that has only ASCII letters, and compares what comes back with what they show.

==============  ==========================================================================================
pages           what a page tells its readers to type, write and expect
special         the commands that are typed otherwise or not at all, each with its reason
comparing       what was printed beside what the page shows: times, paths and drawn numbers are masked
home            an empty home, the environments in it, and a shell that remembers
playing         one page after another, and what programs in the background say
interpreters    which Pythons this machine has
==============  ==========================================================================================
"""
