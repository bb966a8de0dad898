package io.millrace.proxy.access.authorize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.access.authorize.AuthorizationTable.Place;
import io.millrace.proxy.http.FieldSection;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the bounds and the validity of {@link AuthorizationTable}. */
class AuthorizationTableTest {
    private static final byte[] SETTINGS = {1};

    private final AuthorizationTable table = new AuthorizationTable();
    private final List<AuthorizationResult> found = new ArrayList<>();

    private CredentialDigest digest(AuthorizationTable of, int number) {
        byte[] bytes = {(byte) number, (byte) (number >> 8), (byte) (number >> 16)};
        return of.digest(CredentialDigest.function(), SETTINGS, bytes, bytes.length);
    }

    private Place join(CredentialDigest digest) {
        return table.join(digest, ImmediateEventExecutor.INSTANCE, found::add, () -> found.add(null));
    }

    @Test
    void digestsHaveAKeyOfTheirTable() {
        assertEquals(digest(table, 1), digest(table, 1));
        assertNotEquals(digest(table, 1), digest(table, 2));
        assertNotEquals(digest(table, 1), digest(new AuthorizationTable(), 1));
        byte[] other = {2};
        assertNotEquals(
                table.digest(CredentialDigest.function(), SETTINGS, other, 1),
                table.digest(CredentialDigest.function(), other, other, 1));
    }

    @Test
    void resultsEndWithTheirTime() {
        AuthorizationResult allowed = AuthorizationResult.allowed(FieldSection.EMPTY);
        table.finish(digest(table, 1), allowed, 200, 100);
        assertSame(allowed, table.remembered(digest(table, 1), 199));
        assertNull(table.remembered(digest(table, 1), 200));
        assertNull(table.remembered(digest(table, 2), 199));
    }

    @Test
    void someResultsAreNotRemembered() {
        FieldSection cookie = FieldSection.builder().add("Set-Cookie", "a=b").build();
        List<AuthorizationResult> results = List.of(
                AuthorizationResult.failed("timeout"),
                AuthorizationResult.overloaded("queue-full"),
                AuthorizationResult.refused(403, cookie, new byte[0]),
                AuthorizationResult.refused(403, FieldSection.EMPTY, new byte[AuthorizationTable.WEIGHT_MAX + 1]));
        for (AuthorizationResult result : results) {
            table.finish(digest(table, 1), result, 200, 100);
            assertNull(table.remembered(digest(table, 1), 150), result.detail());
        }
    }

    @Test
    void refusedRequestsDoNotDisplaceAllowedOnes() {
        AuthorizationResult allowed = AuthorizationResult.allowed(FieldSection.EMPTY);
        table.finish(digest(table, 0), allowed, 200, 100);
        for (int i = 1; i < 5 * AuthorizationTable.RESULTS_MAX; i++) {
            AuthorizationResult refused = AuthorizationResult.refused(403, FieldSection.EMPTY, new byte[0]);
            table.finish(digest(table, i), refused, 200, 100);
        }
        assertSame(allowed, table.remembered(digest(table, 0), 150));
    }

    @Test
    void waitingRequestsAreBounded() {
        CredentialDigest first = digest(table, 0);
        assertEquals(Place.FIRST, join(first));
        for (int i = 1; i < AuthorizationTable.FOLLOWERS_MAX; i++) {
            assertEquals(Place.FOLLOWER, join(first));
        }
        assertEquals(Place.REFUSED, join(first));
        for (int i = 1; i < AuthorizationTable.PENDING_MAX; i++) {
            assertEquals(Place.FIRST, join(digest(table, i)));
        }
        assertEquals(Place.REFUSED, join(digest(table, AuthorizationTable.PENDING_MAX)));
        assertFalse(table.begin());
        AuthorizationResult failed = AuthorizationResult.failed("timeout");
        table.finish(first, failed, 0, 100);
        assertEquals(AuthorizationTable.FOLLOWERS_MAX - 1, found.size());
        assertSame(failed, found.get(0));
        assertTrue(table.begin());
        assertEquals(Place.REFUSED, join(digest(table, AuthorizationTable.PENDING_MAX)));
        table.end(first, failed, 0, 100);
        assertEquals(Place.FIRST, join(digest(table, AuthorizationTable.PENDING_MAX)));
    }
}
