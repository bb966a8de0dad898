package io.millrace.store.memory;

import io.netty.buffer.Unpooled;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Stress test: a reader looks up a slot without an entry object, while another thread removes it. */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "the reader uses a slot that was released")
@Outcome(expect = Expect.ACCEPTABLE, desc = "the slot is released later, or not found")
@State
public class RamTableStress {
    private static final byte[] KEY = {};

    private final EntrySlots slots = new EntrySlots();
    private final RamTable table = new RamTable(slots, null, 0, 1);
    private final int slot = slots.allocate();
    private boolean released;
    private final EpochReclamation reclamation = new EpochReclamation(any -> released = true);
    private final EpochReclamation.Section section = reclamation.open();

    /** Creates a table with one slot. */
    public RamTableStress() {
        slots.set(slot, new RamEntry(KEY, 0, Unpooled.EMPTY_BUFFER, 0) {}, 0, 0, EvictionPolicy.ADDING);
        table.put(slot, KEY);
    }

    /**
     * The reader. The result is 1 if it found the slot. It does not end its read section, so a slot that it found must
     * not be released.
     */
    @Actor
    public void read(II_Result result) {
        section.begin();
        result.r1 = table.find(0, KEY) == slot ? 1 : 0;
    }

    /** The remover. The result is 1 if the slot was released. */
    @Actor
    public void remove(II_Result result) {
        ReentrantLock lock = table.lock(0);
        lock.lock();
        try {
            table.remove(slot, 0);
        } finally {
            lock.unlock();
        }
        reclamation.releaseAfterReaders(slot, 0);
        result.r2 = released ? 1 : 0;
    }
}
