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
@Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "the reader uses an entry that was released")
@Outcome(expect = Expect.ACCEPTABLE, desc = "the entry is released later, or not found")
@State
public class EpochReclamationStress {
    private final RamEntry entry = new RamEntry(new byte[0], 0, Unpooled.EMPTY_BUFFER, 0) {};
    private final EpochReclamation reclamation = new EpochReclamation(slot -> entry.releaseEntry());
    private final EpochReclamation.Section section = reclamation.open();

    /** Creates an entry and marks it as linked, as the RAM tier does when it adds an entry. */
    public EpochReclamationStress() {
        entry.link();
    }

    /**
     * The reader. The result is 1 if it may use the entry. It does not end its read section, so an entry that it uses
     * must not be released.
     */
    @Actor
    public void read(II_Result result) {
        section.begin();
        result.r1 = entry.isLinked() ? 1 : 0;
    }

    /** The remover. The result is 1 if the entry was released. */
    @Actor
    public void remove(II_Result result) {
        entry.unlink();
        reclamation.releaseAfterReaders(1, 0);
        result.r2 = entry.tryRetain() ? 0 : 1;
    }
}
