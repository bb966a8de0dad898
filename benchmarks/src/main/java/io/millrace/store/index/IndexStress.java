package io.millrace.store.index;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Stress tests of reads of the mapped table while its single writer changes it. */
public final class IndexStress {
    private IndexStress() {}

    /** An entry is put, moved and removed. */
    @JCStressTest
    @Outcome(id = "[012]", expect = Expect.ACCEPTABLE, desc = "absent, the first place or the second")
    @Outcome(expect = Expect.FORBIDDEN, desc = "something that was never put")
    @State
    public static class FillMoveClear {
        private final SlotTable table = StressTables.table();

        /** The writer. */
        @Actor
        public void change() {
            Probing.set(table, 5, 0, StressTables.location(1), 0);
            Probing.set(table, 5, 0, StressTables.location(2), 9);
            Probing.clear(table, Probing.slot(table, 5, 0));
        }

        /** A reader. */
        @Actor
        public void read(I_Result result) {
            result.r1 = StressTables.number(Probing.find(table, 5, 0));
        }
    }

    /** A slot is reused for another hash. */
    @JCStressTest
    @Outcome(id = "[01], [02]", expect = Expect.ACCEPTABLE, desc = "each hash its own place or none")
    @Outcome(expect = Expect.FORBIDDEN, desc = "the other's place")
    @State
    public static class Reuse {
        private final SlotTable table = StressTables.table();

        /** Creates a table with the first hash. */
        public Reuse() {
            Probing.set(table, 5, 8, StressTables.location(1), 0);
        }

        /** The writer. */
        @Actor
        public void change() {
            Probing.clear(table, Probing.slot(table, 5, 8));
            Probing.set(table, 6, 16, StressTables.location(2), 0);
        }

        /** A reader of both hashes. */
        @Actor
        public void read(II_Result result) {
            result.r1 = StressTables.number(Probing.find(table, 5, 8));
            result.r2 = StressTables.number(Probing.find(table, 6, 16));
        }
    }

    /** The table grows, and is changed directly afterwards. */
    @JCStressTest
    @Outcome(id = "1, 1|1, 2|2, 2", expect = Expect.ACCEPTABLE, desc = "found, and never an older place after a newer")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or back in time")
    @State
    public static class Swap {
        private final MappedIndex index = StressTables.index();

        /** Creates an entry, and a larger table whose filling has begun. */
        public Swap() {
            put(1);
            index.beginGrowth(4);
            index.step();
            index.step();
        }

        /** The writer. */
        @Actor
        public void grow() {
            while (index.capacity() == 8) {
                index.step();
            }
            put(2);
        }

        private void put(int number) {
            try {
                index.put(5, 0, StressTables.location(number), -1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A reader. */
        @Actor
        public void read(II_Result result) {
            result.r1 = StressTables.number(index.find(5, 0));
            result.r2 = StressTables.number(index.find(5, 0));
        }
    }

    /** Hits are counted while the entry moves. */
    @JCStressTest
    @Outcome(id = "[012], 2", expect = Expect.ACCEPTABLE, desc = "at the new place, with the hits since then")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a hit changed more than the count")
    @State
    public static class Hits {
        private final SlotTable table = StressTables.table();

        /** Creates an entry without hits. */
        public Hits() {
            Probing.set(table, 5, 0, StressTables.location(1), 0);
        }

        /** The writer. */
        @Actor
        public void move() {
            Probing.set(table, 5, 0, StressTables.location(2), 0);
        }

        /** A reader. */
        @Actor
        public void hit() {
            table.hit(Probing.slot(table, 5, 0));
            table.hit(Probing.slot(table, 5, 0));
        }

        /** Reads the final state. */
        @Arbiter
        public void look(II_Result result) {
            result.r1 = SlotTable.hits(table.meta(Probing.slot(table, 5, 0)));
            result.r2 = StressTables.number(Probing.find(table, 5, 0));
        }
    }
}
