package io.millrace.proxy.admin.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.admin.AdminRole;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Life of sessions and codes, and the limit of failed logins, by a manual clock. */
class SessionsTest {
    @TempDir
    Path directory;

    private final AtomicLong now = new AtomicLong(-5);
    private final AtomicInteger evictions = new AtomicInteger();
    private final Sessions sessions = new Sessions(now::get, evictions::incrementAndGet);
    private final LoginCodes codes = new LoginCodes(now::get, evictions::incrementAndGet);
    private final LoginLimit limit = new LoginLimit(now::get, evictions::incrementAndGet);

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void sessionNeedsCookieAndProof() {
        Sessions.Opened one = sessions.open(AdminToken.OF_DASHBOARD, null);
        Sessions.Opened two = sessions.open(AdminToken.OF_DASHBOARD, null);
        assertNotEquals(one.cookie(), two.cookie());
        assertTrue(sessions.find(one.cookie(), one.proof()).hasProof());
        assertFalse(sessions.find(one.cookie(), null).hasProof());
        assertFalse(sessions.find(one.cookie(), two.proof()).hasProof());
        assertNull(sessions.find(one.proof(), one.proof()));
    }

    @Test
    void sessionEndsAfterTwelveHours() {
        Sessions.Opened opened = sessions.open(AdminToken.OF_DASHBOARD, null);
        pass(Duration.ofHours(12).minusNanos(1));
        assertTrue(sessions.find(opened.cookie(), opened.proof()).hasProof());
        pass(Duration.ofNanos(1));
        assertNull(sessions.find(opened.cookie(), opened.proof()));
        assertEquals(0, sessions.endAll());
    }

    @Test
    void sessionsEndByThemselvesByLeaseAndAllTogether() {
        Sessions.Opened own = sessions.open(AdminToken.OF_DASHBOARD, null);
        Sessions.Opened leased = sessions.open(AdminToken.OF_DASHBOARD, "l");
        sessions.open(AdminToken.OF_DASHBOARD, "m");
        assertTrue(sessions.end(own.cookie()));
        assertFalse(sessions.end(own.cookie()));
        sessions.removeLease("l");
        assertNull(sessions.find(leased.cookie(), leased.proof()));
        assertEquals(1, sessions.endAll());
    }

    @Test
    void furtherSessionEndsTheOldest() {
        Sessions.Opened first = sessions.open(AdminToken.OF_DASHBOARD, null);
        Sessions.Opened second = sessions.open(AdminToken.OF_DASHBOARD, null);
        for (int i = 2; i <= Sessions.SESSIONS_MAX; i++) {
            sessions.open(AdminToken.OF_DASHBOARD, null);
        }
        assertNull(sessions.find(first.cookie(), first.proof()));
        assertTrue(sessions.find(second.cookie(), second.proof()).hasProof());
        assertEquals(1, evictions.get());
    }

    @Test
    void furtherCodeMakesTheOldestInvalid() {
        String late = codes.next(AdminToken.OF_DASHBOARD, null);
        pass(LoginCodes.LIFETIME);
        String first = codes.next(AdminToken.OF_DASHBOARD, null);
        for (int i = 1; i < LoginCodes.CODES_MAX; i++) {
            codes.next(AdminToken.OF_DASHBOARD, null);
        }
        assertEquals(0, evictions.get(), "a code that is over takes no place");
        codes.next(AdminToken.OF_DASHBOARD, null);
        assertEquals(1, evictions.get());
        assertNull(codes.use(first));
        assertNull(codes.use(late));
    }

    @Test
    void furtherAddressReplacesTheOneThatFailedLongestAgo() throws UnknownHostException {
        for (int round = 0; round < LoginLimit.FAILURES_MAX; round++) {
            for (int i = 0; i < LoginLimit.ADDRESSES_MAX; i++) {
                limit.failed(InetAddress.getByAddress(new byte[] {10, 0, (byte) (i >> 8), (byte) i}));
            }
        }
        assertEquals(0, evictions.get());
        limit.failed(InetAddress.getByName("192.0.2.1"));
        assertEquals(1, evictions.get());
        assertEquals(0, limit.secondsToWait(InetAddress.getByName("10.0.0.0")));
        assertTrue(limit.secondsToWait(InetAddress.getByName("10.0.0.1")) > 0);
    }

    /** A viewer cannot end the sessions of operators by many logins. */
    @Test
    void furtherSessionEndsTheOldestOfItsToken() {
        Sessions.Opened operator = sessions.open(AdminToken.OF_DASHBOARD, null);
        AdminToken viewer = viewer();
        Sessions.Opened first = sessions.open(viewer, null);
        for (int i = 2; i <= Sessions.SESSIONS_MAX; i++) {
            sessions.open(viewer, null);
        }
        assertNull(sessions.find(first.cookie(), first.proof()));
        assertTrue(sessions.find(operator.cookie(), operator.proof()).hasProof());
    }

    private AdminToken viewer() {
        try {
            Path file = Files.writeString(directory.resolve("viewer"), "0123456789abcdef");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            AdminConfig.Token token = new AdminConfig.Token("viewer", file, AdminRole.VIEWER, Set.of(), Set.of(), 0);
            return AdminAccess.of(new AdminConfig(null, null, null, List.of(token), null, 1))
                    .find("0123456789abcdef");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void codeWorksOnceWithinTwoMinutes() {
        String code = codes.next(AdminToken.OF_DASHBOARD, "l");
        String late = codes.next(AdminToken.OF_DASHBOARD, null);
        String ofEnded = codes.next(AdminToken.OF_DASHBOARD, "m");
        pass(Duration.ofMinutes(2).minusNanos(1));
        LoginCodes.Code used = codes.use(code);
        assertNotNull(used);
        assertEquals("l", used.lease());
        assertNull(codes.use(code));
        codes.removeLease("m");
        assertNull(codes.use(ofEnded));
        pass(Duration.ofNanos(1));
        assertNull(codes.use(late));
        assertNull(codes.use("unknown"));
    }

    @Test
    void fiveFailedLoginsThenOneEveryTwelveSeconds() throws UnknownHostException {
        InetAddress address = InetAddress.getByName("192.0.2.1");
        for (int i = 0; i < LoginLimit.FAILURES_MAX; i++) {
            assertEquals(0, limit.secondsToWait(address), "try " + i);
            limit.failed(address);
        }
        assertEquals(12, limit.secondsToWait(address));
        assertEquals(0, limit.secondsToWait(InetAddress.getByName("192.0.2.2")));
        pass(Duration.ofSeconds(12));
        assertEquals(0, limit.secondsToWait(address));
        limit.failed(address);
        assertTrue(limit.secondsToWait(address) > 0);
        pass(Duration.ofMinutes(2));
        for (int i = 0; i < LoginLimit.FAILURES_MAX; i++) {
            assertEquals(0, limit.secondsToWait(address), "try " + i);
            limit.failed(address);
        }
        assertTrue(limit.secondsToWait(address) > 0);
    }

    @ParameterizedTest
    @CsvSource({
        "2001:db8::1, 2001:db8::ffff:1, true",
        "2001:db8::1, 2001:db8:0:1::1, false",
        "10.0.0.1, 10.0.0.2, false"
    })
    void addressesOfOneIpv6NetworkCountAsOne(String one, String other, boolean together) throws UnknownHostException {
        for (int i = 0; i < LoginLimit.FAILURES_MAX; i++) {
            limit.failed(InetAddress.getByName(one));
        }
        assertEquals(together, limit.secondsToWait(InetAddress.getByName(other)) > 0);
    }
}
