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

/** Stress tests of reads of an index table while its single writer changes the table. */
public final class IndexStress {
    private IndexStress() {}

    /** A reader looks up an entry that is put, moved and removed. */
    @JCStressTest
    @Outcome(id = "[012]", expect = Expect.ACCEPTABLE, desc = "absent, at the first place, or at the second")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a place that was never put")
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

    /** A reader looks up two hashes while the slot of the first is reused for the second. */
    @JCStressTest
    @Outcome(id = "[01], [02]", expect = Expect.ACCEPTABLE, desc = "each hash at its own place, or absent")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a hash at the place of the other")
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

    /** A reader looks up an entry while a larger table replaces the table, and the entry then changes. */
    @JCStressTest
    @Outcome(
            id = "1, 1|1, 2|2, 2",
            expect = Expect.ACCEPTABLE,
            desc = "found, and never at the old place after the new")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or at the old place after the new")
    @State
    public static class Swap {
        private final MappedIndex index = StressTables.index();

        /** Creates an entry, and begins to fill a larger table. */
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

    /** A reader counts hits while the writer moves the entry. */
    @JCStressTest
    @Outcome(
            id = "[012], 2",
            expect = Expect.ACCEPTABLE,
            desc = "at the new place, with the hits counted since the move")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a hit changed more than the hit count")
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
