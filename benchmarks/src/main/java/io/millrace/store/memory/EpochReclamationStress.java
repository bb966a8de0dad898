package io.millrace.store.memory;

import io.netty.buffer.Unpooled;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A reader finds an entry while that is taken out. */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "the reader reads what was let go")
@Outcome(expect = Expect.ACCEPTABLE, desc = "it is let go later, or not found")
@State
public class EpochReclamationStress {
    private final EpochReclamation sections = new EpochReclamation();
    private final EpochReclamation.Section section = sections.open();
    private final RamEntry entry = new RamEntry(new byte[0], 0, Unpooled.EMPTY_BUFFER, 0) {};

    /** An entry in a tier. */
    public EpochReclamationStress() {
        entry.link();
    }

    /** A reader: 1 when it goes on to read. It does not end here, so what waits for it stays. */
    @Actor
    public void read(II_Result result) {
        section.begin();
        result.r1 = entry.isLinked() ? 1 : 0;
    }

    /** Who takes it out: 1 when it was let go. */
    @Actor
    public void takeOut(II_Result result) {
        entry.unlink();
        sections.releaseAfterReaders(entry);
        result.r2 = entry.tryRetain() ? 0 : 1;
    }
}
