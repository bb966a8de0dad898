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

/** What is read of the table of invalidations, without its lock, while it changes. */
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

    /** A full table forgets what it had, and raises its floor for it. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "stale, by its own stamp or by the floor")
    @Outcome(expect = Expect.FORBIDDEN, desc = "found current, or gone")
    @State
    public static class SoftFloor {
        private final InvalidationTable table = new InvalidationTable(1, 1);

        /** A host that was made stale. */
        public SoftFloor() {
            table.invalidate(InvalidationKind.HOST, true, HOST, null, 0);
        }

        /** A purge of another one. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, true, OTHER, null, 0);
        }

        /** A request for the first. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }

    /** As the other, of hard ones, for groups. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "gone, by its own stamp or by the floor")
    @Outcome(expect = Expect.FORBIDDEN, desc = "found current, or only stale")
    @State
    public static class HardFloor {
        private final InvalidationTable table = new InvalidationTable(1, 1);

        /** A group that is gone. */
        public HardFloor() {
            table.invalidate(InvalidationKind.GROUP, false, GROUP, null, 0);
        }

        /** A purge of another one. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.GROUP, false, OTHER, null, 0);
        }

        /** A request for a member of the first. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, GROUPS));
        }
    }

    /** Everything is invalidated, which takes out what was invalidated one by one. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "gone, by its host or by all")
    @Outcome(expect = Expect.FORBIDDEN, desc = "found current, or only stale")
    @State
    public static class All {
        private final InvalidationTable table = new InvalidationTable(4, 4);

        /** A host that is gone, and everything stale. */
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

    /** Who asks an origin under a stamp finds everything that was invalidated under it. */
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

    /** The table grows while a purged host is looked for. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "gone")
    @Outcome(expect = Expect.FORBIDDEN, desc = "not found while it moved")
    @State
    public static class Growth {
        private final InvalidationTable table = new InvalidationTable(64, 1);

        /** A host that is gone, and as many others as fit before the array grows. */
        public Growth() {
            for (int i = 0; i < 8; i++) {
                table.invalidate(InvalidationKind.HOST, false, HOST + i, null, 0);
            }
        }

        /** A purge of one more. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, false, OTHER, null, 0);
        }

        /** A request for the first. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }
}
