package io.millrace.store.memory;

import io.netty.buffer.Unpooled;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Stress test: a reader looks up an entry while another thread removes it. */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "the reader reads what was let go")
@Outcome(expect = Expect.ACCEPTABLE, desc = "it is let go later, or not found")
@State
public class EpochReclamationStress {
    private final EpochReclamation sections = new EpochReclamation();
    private final EpochReclamation.Section section = sections.open();
    private final RamEntry entry = new RamEntry(new byte[0], 0, Unpooled.EMPTY_BUFFER, 0) {};

    /** Creates an entry in a tier. */
    public EpochReclamationStress() {
        entry.link();
    }

    /**
     * The reader. The result is 1 if it reads the entry. Its section does not end here, so entries that wait for the
     * reader are kept.
     */
    @Actor
    public void read(II_Result result) {
        section.begin();
        result.r1 = entry.isLinked() ? 1 : 0;
    }

    /** The remover. The result is 1 if the entry was released. */
    @Actor
    public void takeOut(II_Result result) {
        entry.unlink();
        sections.releaseAfterReaders(entry);
        result.r2 = entry.tryRetain() ? 0 : 1;
    }
}
