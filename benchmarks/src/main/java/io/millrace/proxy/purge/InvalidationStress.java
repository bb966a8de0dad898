package io.millrace.proxy.purge;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Stress tests of lock-free reads of the invalidation table while it changes. */
public final class InvalidationStress {
    private static final TargetUri URL = url("http://old/a");
    private static final long HOST = InvalidationTable.hostHash(URL);
    private static final long OTHER = InvalidationTable.hostHash(url("http://other/"));
    private static final long GROUP = 77;
    private static final Labels GROUPS = Labels.of(new long[] {GROUP}, Tags.NONE);

    private InvalidationStress() {}

    private static TargetUri url(String text) {
        if (TargetUri.parseAbsolute(text) instanceof TargetUri url) {
            return url;
        }
        throw new IllegalArgumentException(text);
    }

    private static int severity(@Nullable Outdated outdated) {
        return outdated == null ? 0 : outdated.isSoft() ? 1 : 2;
    }

    /** A full table drops its entries and raises its floor in their place. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "stale, by its own stamp or by the floor")
    @Outcome(expect = Expect.FORBIDDEN, desc = "found current, or gone")
    @State
    public static class SoftFloor {
        private final InvalidationTable table = new InvalidationTable(1, 1);

        /** Creates a table with a stale host. */
        public SoftFloor() {
            table.invalidate(InvalidationKind.HOST, true, HOST, null, 0);
        }

        /** A purge of another host. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, true, OTHER, null, 0);
        }

        /** A request for the first host. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }

    /** Like {@link SoftFloor}, for hard invalidations of groups. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "gone, by its own stamp or by the floor")
    @Outcome(expect = Expect.FORBIDDEN, desc = "found current, or only stale")
    @State
    public static class HardFloor {
        private final InvalidationTable table = new InvalidationTable(1, 1);

        /** Creates a table with a purged group. */
        public HardFloor() {
            table.invalidate(InvalidationKind.GROUP, false, GROUP, null, 0);
        }

        /** A purge of another group. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.GROUP, false, OTHER, null, 0);
        }

        /** A request for a member of the first group. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, GROUPS));
        }
    }

    /** A purge of everything, which removes the single entries. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "gone, by its host or by all")
    @Outcome(expect = Expect.FORBIDDEN, desc = "found current, or only stale")
    @State
    public static class All {
        private final InvalidationTable table = new InvalidationTable(4, 4);

        /** Creates a table with a purged host, and with all other hosts stale. */
        public All() {
            table.invalidate(InvalidationKind.HOST, false, HOST, null, 0);
            table.invalidate(InvalidationKind.ALL, true, 0, null, 0);
        }

        /** A purge of everything. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.ALL, false, 0, null, 0);
        }

        /** A request for the host. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }

    /** A reader that sees a stamp also sees all invalidations with it. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "the stamp is there and what has it is not")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "before or after")
    @State
    public static class StampLast {
        private final InvalidationTable table = new InvalidationTable(4, 4);

        /** A purge. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, false, HOST, null, 0);
        }

        /** A request. */
        @Actor
        public void read(II_Result result) {
            result.r1 = table.stamp() > 0 ? 1 : 0;
            result.r2 = table.of(URL, 0, Labels.NONE) == null ? 0 : 1;
        }
    }

    /** The table grows during the lookup of a purged host. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "gone")
    @Outcome(expect = Expect.FORBIDDEN, desc = "not found while it moved")
    @State
    public static class Growth {
        private final InvalidationTable table = new InvalidationTable(64, 1);

        /** Creates a table with a purged host, and with as many others as fit before the array grows. */
        public Growth() {
            for (int i = 0; i < 8; i++) {
                table.invalidate(InvalidationKind.HOST, false, HOST + i, null, 0);
            }
        }

        /** A purge of one more host. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, false, OTHER, null, 0);
        }

        /** A request for the first host. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }
}
