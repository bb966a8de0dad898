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

/**
 * Stress tests of lock-free reads of the table of purges (invalidations) while another thread changes it. A stamp is
 * the number of a purge, which increases. The results of the readers are 0 for a valid response, 1 for a stale one and
 * 2 for a purged one.
 */
public final class InvalidationStress {
    private static final TargetUri URL = url("http://old/a");
    private static final long HOST = ScopeHash.hostHash(URL);
    private static final long OTHER = ScopeHash.hostHash(url("http://other/"));
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

    /**
     * A full table drops its entries and raises its floor. The floor is a stamp; all responses that are older
     * count as invalidated.
     */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "stale, by its own entry or by the floor")
    @Outcome(expect = Expect.FORBIDDEN, desc = "valid, or purged")
    @State
    public static class SoftFloor {
        private final InvalidationTable table = new InvalidationTable(1, 1);

        /** Creates a table with a host that was invalidated softly. */
        public SoftFloor() {
            table.invalidate(InvalidationKind.HOST, true, HOST, null, 0);
        }

        /** Invalidates another host. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, true, OTHER, null, 0);
        }

        /** Looks up the first host. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }

    /** Like {@link SoftFloor}, but with hard invalidations (purges) of groups. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "purged, by its own entry or by the floor")
    @Outcome(expect = Expect.FORBIDDEN, desc = "valid, or only stale")
    @State
    public static class HardFloor {
        private final InvalidationTable table = new InvalidationTable(1, 1);

        /** Creates a table with a purged group. */
        public HardFloor() {
            table.invalidate(InvalidationKind.GROUP, false, GROUP, null, 0);
        }

        /** Purges another group. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.GROUP, false, OTHER, null, 0);
        }

        /** Looks up a response of the first group. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, GROUPS));
        }
    }

    /** A purge of all responses removes the entries of single hosts. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "purged, by its host or by the purge of all")
    @Outcome(expect = Expect.FORBIDDEN, desc = "valid, or only stale")
    @State
    public static class All {
        private final InvalidationTable table = new InvalidationTable(4, 4);

        /** Creates a table with a purged host and a soft invalidation of all responses. */
        public All() {
            table.invalidate(InvalidationKind.HOST, false, HOST, null, 0);
            table.invalidate(InvalidationKind.ALL, true, 0, null, 0);
        }

        /** Purges all responses. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.ALL, false, 0, null, 0);
        }

        /** Looks up the host. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }

    /** A reader that sees a new stamp also sees the invalidation with that stamp. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "the stamp is visible, but its invalidation is not")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "a state before or after the purge")
    @State
    public static class StampLast {
        private final InvalidationTable table = new InvalidationTable(4, 4);

        /** Purges the host. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, false, HOST, null, 0);
        }

        /** Reads the stamp and then the host. */
        @Actor
        public void read(II_Result result) {
            result.r1 = table.stamp() > 0 ? 1 : 0;
            result.r2 = table.of(URL, 0, Labels.NONE) == null ? 0 : 1;
        }
    }

    /** The table grows during the lookup of a purged host. */
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "purged")
    @Outcome(expect = Expect.FORBIDDEN, desc = "the host was not found while the table grew")
    @State
    public static class Growth {
        private final InvalidationTable table = new InvalidationTable(64, 1);

        /** Creates a table with a purged host. It also adds as many other hosts as fit before the table grows. */
        public Growth() {
            for (int i = 0; i < 8; i++) {
                table.invalidate(InvalidationKind.HOST, false, HOST + i, null, 0);
            }
        }

        /** Purges one more host, so that the table grows. */
        @Actor
        public void purge() {
            table.invalidate(InvalidationKind.HOST, false, OTHER, null, 0);
        }

        /** Looks up the first host. */
        @Actor
        public void read(I_Result result) {
            result.r1 = severity(table.of(URL, 0, Labels.NONE));
        }
    }
}
