"""Every field of a peer's configuration in words: what it means, by which formula it acts, what it costs to move it.

``network create`` writes these texts as comments into each party's file and the how-to page repeats them. They are
worded here and nowhere else; a test compares the three.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EXPLANATIONS", "Explanation"]


class Explanation(NamedTuple):
    """The three things an operator asks about a field."""

    meaning: str
    formula: str
    cost: str


EXPLANATIONS: dict[str, Explanation] = {
    "name": Explanation(
        "This peer's name, as it stands in the roster.",
        "certificate name = name.network",
        "Changing it needs a new key and card, and makes this a new member.",
    ),
    "network": Explanation(
        "The network's name; a roster of any other network is refused.",
        "one founder's key per network",
        "All members must use the same.",
    ),
    "listen": Explanation(
        "Address and port on which this peer listens; '' if it does not, and makes all calls itself.",
        "host:port; 0.0.0.0 is every address of this machine. Neighbours call the address in the roster",
        "Moving the peer to another machine needs a new roster only if the address there is another.",
    ),
    "data_dir": Explanation(
        "Folder of the durable state (SQLite, and a file for each open topic of long vectors), and the control socket.",
        "relative paths start at this file's folder",
        "Losing it is survivable: neighbours give the ledger back. Restoring an OLD copy is not: delete it instead.",
    ),
    "noise_std": Explanation(
        "Standard deviation of the first noise draw, in the units of the private value.",
        "draw t has standard deviation noise_std * noise_decay^t",
        "Larger hides more and settles later, by about log(noise_std) / log(1/noise_decay) exchanges.",
    ),
    "noise_decay": Explanation(
        "Share of the noise amplitude kept at each exchange, between 0 and 1 (exclusive).",
        "exchanges until the noise is below tolerance: log(noise_std/tolerance) / log(1/noise_decay)",
        "Nearer 1 hides for longer and settles later; nearer 0 shows the value after a few exchanges.",
    ),
    "seal_std": Explanation(
        "Standard deviation of the random number that every edge starts with, known to its two ends only.",
        "nobody but all neighbours together knows a value better than seal_std * sqrt(number of honest neighbours)",
        "Larger hides more and settles later, by about log(seal_std / spread of values) exchanges per peer.",
    ),
    "unit": Explanation(
        "All numbers are whole multiples of this; in quotes, for example '0.01' for money in cents.",
        "at least 2^-32 times noise_std and seal_std; tolerance at least 2 * max_degree + 2 units",
        "Smaller is more exact: every peer ends within one unit of the mean. All members must use the same.",
    ),
    "low": Explanation(
        "Least private value that a member may have.",
        "an edge moves at most L = members/2 * (high - low) + 10 seal_std sqrt(max_degree) + "
        "10 noise_std / sqrt(1 - noise_decay^2)",
        "A member that lies over k edges shifts the mean by at most 2 k L / members while it stays.",
    ),
    "high": Explanation(
        "Greatest private value that a member may have.",
        "see low",
        "A wider range than needed gives a liar more room.",
    ),
    "members": Explanation(
        "How many members the network has.",
        "see low",
        "All members must use the same.",
    ),
    "max_degree": Explanation(
        "The most neighbours that any member has.",
        "see low",
        "All members must use the same.",
    ),
    "smallest_std": Explanation(
        "Privacy budget: ALL neighbours together may never estimate the private value with a smaller standard "
        "deviation than this (0: no limit).",
        "noise is drawn while sum over draws of 1/(noise_decay^(2t) noise_std^2) <= 1/smallest_std^2",
        "When it is spent the last noise stays in for good: the average then keeps an error of about "
        "smallest_std / sqrt((1 - noise_decay^2) * number of peers).",
    ),
    "diameter": Explanation(
        "From the roster: the number of hops between the two peers that are farthest apart.",
        "a decision takes 2*diameter rounds of hearing from every neighbour",
        "Too large: settles later. Too small: the settled rule may speak too early.",
    ),
    "neighbours": Explanation(
        "From the roster: the peers that may talk to this one, and where they are reached.",
        "the two names of each edge in the roster, except those under without",
        "Exact average needs the graph connected; more edges settle faster and show the noisy value to more parties.",
    ),
    "dimension": Explanation(
        "How many numbers each peer's private value has.",
        "8*dimension bytes per value sent",
        "All members must use the same; at most 1000000.",
    ),
    "tolerance": Explanation(
        "How close all estimates must be before the network calls itself settled.",
        "settled when max - min over the network <= tolerance",
        "Smaller settles later (logarithmically) and withdraws more of the noise.",
    ),
    "rate": Explanation(
        "How often, per second, this peer starts an exchange with each neighbour.",
        "own clock: Poisson, rate * number of neighbours; keep rate * degree * round-trip-time <= 0.05; in topics up "
        "to four times as often, as fast as calls are answered",
        "Larger settles faster until peers find each other busy; all members should use the same.",
    ),
    "bucket_burst": Explanation(
        "Most exchanges a neighbour may make in a burst.",
        "tokens per neighbour <= bucket_burst; starts at 0",
        "Larger lets a hostile neighbour drain noise sooner; below 4 honest neighbours are refused more often.",
    ),
    "bucket_refill": Explanation(
        "Exchanges granted to neighbours per exchange of this peer's own clock.",
        "every own tick adds bucket_refill / (number of neighbours) tokens to each",
        "2 (with a burst of 6) refuses about one honest call in a hundred; smaller refuses more, larger lets a hostile "
        "neighbour drain noise faster.",
    ),
    "min_open_edges": Explanation(
        "Show a value only while at least this many edges are sealed, to neighbours that answer.",
        "if left out: 2, or 1 for a member to which the roster gives a single neighbour",
        "With fewer the peer is silent until another neighbour or a new roster comes; 1 leaves it alone with one.",
    ),
    "timeout": Explanation(
        "Seconds to wait for an answer as long as a neighbour's round trip is not known.",
        "then mean + 4 deviations of its round trips, in [timeout/5, 20 timeout]; doubles at each repetition; time for "
        "long vectors is added by itself",
        "Only the first messages depend on it. Too short repeats them (harmless); too long keeps this peer locked "
        "after a loss.",
    ),
    "retries": Explanation(
        "How many times a request is repeated before giving up.",
        "locked for at most 2^(retries+1) - 1 waits; only one where several requests in a row were not answered",
        "More repair a loss sooner; fewer free the peer sooner when a neighbour is down.",
    ),
    "backoff_max": Explanation(
        "Longest pause, in seconds, between attempts to reach an unreachable neighbour, or requests to one that does "
        "not answer them.",
        "doubles from timeout up to this, with random jitter; at least 9 times what was waited in vain",
        "Larger is quieter; a returning neighbour is noticed later (it also calls by itself).",
    ),
    "sync_interval": Explanation(
        "Seconds between ledger comparisons with each neighbour while settled.",
        "one short message per neighbour per sync_interval",
        "Smaller repairs a lost last message sooner.",
    ),
    "grace": Explanation(
        "Seconds a peer without durable state waits for its neighbours' ledgers before it starts exchanges.",
        "until all neighbours answered, or this time has passed",
        "Too short after a disk loss: a passing error of the missing flow / n.",
    ),
    "metrics_listen": Explanation(
        "Loopback address for Prometheus (/metrics) and /health; leave it out for none.",
        "host:port, host must be a loopback address",
        "Metrics hold counts and scales, never a value or an estimate.",
    ),
    "without": Explanation(
        "Neighbours in the roster with which this peer has nothing to do: it dropped them, or they left.",
        "neighbours = those of the roster - without",
        "The average is of those who are still connected. The founder's next roster should say the same.",
    ),
    "follow_rosters": Explanation(
        "Whether a later roster that a neighbour brings is taken up by itself, if the founder has signed it.",
        "never without you if it lays this peer open, or leaves it none of its present neighbours",
        "With false every later roster waits beside the old one until you install it; until then nothing is settled.",
    ),
    "longest_topic": Explanation(
        "The most coordinates of a topic's vector; a longer message is refused before it is read.",
        "up to 35 messages of 56 bytes a coordinate for each neighbour that misbehaves; 8 MB with 4096",
        "Contributors to a topic of longer vectors must all raise it.",
    ),
    "identity": Explanation(
        "This peer's private key, its network's roster, and the fingerprint of the founder's key.",
        "mutual TLS 1.2 or 1.3, P-256; believed are exactly the neighbours' certificates in the roster",
        "A roster with another founder's signature is refused; without a key the peer does not start.",
    ),
}
