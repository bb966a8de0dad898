package io.millrace.store.disk.segment;

import io.millrace.store.index.StressTables;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Stress test: a reader pins a segment while the log retires it in order to overwrite it. */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "the reader reads the segment, and the log overwrites it")
@Outcome(expect = Expect.ACCEPTABLE, desc = "the reader does not read, or the log does not overwrite")
@State
public class PinStress {
    private final SegmentTable table = SegmentTable.create(StressTables.index(), 2);
    private final SegmentPins pins = new SegmentPins(2);

    /** Creates a sealed segment. */
    public PinStress() {
        table.set(0, SegmentTable.State.SEALED, 1, 77, 128);
    }

    /** The reader. The result is 1 if it reads the segment. */
    @Actor
    public void read(II_Result result) {
        pins.add(0);
        result.r1 = table.tag(0) == 77 ? 1 : 0;
    }

    /** The log. The result is 0 if it overwrites the segment. */
    @Actor
    public void retire(II_Result result) {
        table.state(0, SegmentTable.State.RETIRED);
        result.r2 = pins.isPinned(0) ? 1 : 0;
    }
}
