"""Classes shared by threads: concurrent tests from nothing but the class.

Follows AutoConTest (Terragni, Cheung, "Coverage-Driven Test Code Generation for Concurrent Classes", ICSE 2016) and
keeps its names: SOUT (the shared object under test), candidate methods, sequential coverage M, call sequences delta,
the repository L, a concurrent test alpha . (beta || gamma). One file per component:

    subject.py        what the methods of the class are              (section 4.2, candidate methods)
    pools.py          what to call them with                         (4.2, pools)
    stage.py          running a sequence or a concurrent test under control
    coverage.py       sequential coverage M                          (4.1)
    sequences.py      the call sequence generator                    (4.2)
    assembler.py      the concurrent test assembler                  (4.3)
    interleavings.py  the interleaving explorer                      (4.4)
    minimise.py       from a failing test to one that a person reads
    serializability.py, linearizability.py    prediction and judging
    result.py         what a campaign is asked, and what it tells

The iterations of figure 3 are the door's: doors/class_/campaign.py.
"""
