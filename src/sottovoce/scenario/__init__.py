"""One grammar for graph, method and values: what command lines, sweep files, web addresses and exports say."""
