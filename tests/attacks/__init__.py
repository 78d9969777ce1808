"""Attempts to break what is promised: one file per promise, named after it.

A promise in the documentation that has no file here has not been tried.

===============================  =========================================================================
test_strangers_at_the_port       whoever has no certificate of a neighbour is refused, and costs others nothing
test_nobody_is_kept_waiting      silent streams, junk bodies and connections cost honest neighbours nothing
test_a_moment_and_no_more        who abuses answers that come later takes a moment, and nothing that lasts
test_a_tarpit                    a neighbour that holds back its answers does not slow the exchanges with others
test_a_frozen_neighbour          with one neighbour frozen, the other learns no more than the theorem on seals allows
test_a_hostile_neighbour         a neighbour that says anything at all learns no value and breaks nothing
test_a_second_certificate        a certificate in a neighbour's name is refused, whoever made it
test_ctrl_c                      Ctrl-C leaves no half result: what is composed of runs stops and writes nothing
test_a_budget_bounds_the_error   with a budget the error is what the formula says, also when members leave
test_a_plan_keeps_its_promises   error, everyone else, neighbours: kept in as many runs as the plan says
test_a_release_keeps_epsilon     a published mean with noise tells nobody more than its ε; half the noise is noticed
test_a_sweep_survives            stopped, killed or damaged: no worker stays, nothing half done is kept, no bit is lost
test_disclosed_means_disclosed   an audit calls a value disclosed only if it is, and says when it cannot decide
test_drops_hold                  a drop holds at both ends, whoever is down and whatever is lost
test_kept_for_ever               what a report says stays hidden for ever does, whatever fires later
test_last_bits_tell_nothing      no private value can be ruled out by the digits of a message
test_the_account_survives        no restored copy and no lost disk gives any of a budget back
test_forged_answers              nobody takes an invented end of a topic for one, or waits for a false word for ever
test_liars                       a liar shifts no more than its bound, and nothing once it is dropped
test_liars_with_real_processes   the same for every liar as a process over real TLS
test_seals_hold                  no coalition, draining or refusing, knows more than the theorem on seals allows
test_settled_in_time             settled is declared soon after it is true, never before, with few messages more
test_topics_are_not_mixed        whoever declares a topic's answer declares the same members, whatever fails
test_references_lie              vectors to measure from that a liar proposes keep nobody from the answer
test_the_missing_are_named       all members of a topic that cannot finish name who is missing; liars add words only
test_ledgers_lose_nothing        however a simulated network changes: mass is accounted for, and ledgers lose none
test_nothing_is_lost             loss, crashes, lost disks, partitions: the average is that of the members
test_one_set_for_all             whoever has an answer with "drop" has the same, whatever a liar whispers
test_a_study_keeps_its_budget    no row, and no party, changes a study's sums by more than its noise is made for
test_small_groups                no value of a group smaller than a study declares is shown, or contributed by anybody
test_few_set_apart               nor of a small group that the numbers of a column set apart, though nobody asked for it
test_sums_leave_sizes_open       sums of a column tell no size of a small group, with its bins or by themselves
test_what_a_wire_tap_sees        whoever is on the path sees the called peer's name, sizes and times, no number
test_who_keeps_us_waiting        errors lead to a liar that keeps others from an answer, and accuse nobody else
test_chaos_endures               a million exchanges among crashes and losses: nothing grows, nothing is lost
===============================  =========================================================================
"""
