package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.acme.RenewalTime.Window;
import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the times of renewals, the pauses, the number of orders and the order of issuers. */
class DecisionsTest {
    private static final long DAY = 86_400;

    @Test
    void renewsWhenAThirdOfTheLifetimeIsLeft() {
        assertEquals(60 * DAY, RenewalTime.byLifetime(0, 90 * DAY));
        assertEquals(4 * DAY, RenewalTime.byLifetime(0, 6 * DAY));
    }

    @ParameterizedTest
    @CsvSource({
        // start, end, fraction, expected: RFC 9773 section 4.2
        "20, 30, 0, 20",
        "20, 30, 0.5, 25",
        "20, 30, 1, 30",
        // a window that would pass the end of the certificate
        "200, 300, 0.5, 81",
    })
    void renewsWithinTheIssuersWindow(long start, long end, double fraction, long expectedDay) {
        assertEquals(
                expectedDay * DAY, RenewalTime.byWindow(new Window(start * DAY, end * DAY), fraction, 0, 90 * DAY));
    }

    @Test
    void windowInThePastDoesNotRenewANewCertificateAtOnce() {
        long issued = 10 * DAY;
        assertEquals(issued + 3600, RenewalTime.byWindow(new Window(DAY, 2 * DAY), 0.5, issued, issued + 90 * DAY));
        assertEquals(
                issued + 5 * DAY,
                RenewalTime.byWindow(new Window(issued + 5 * DAY, issued + 5 * DAY), 0.5, issued, issued + 90 * DAY));
    }

    @ParameterizedTest
    @CsvSource({"1, 60", "2, 120", "3, 240", "9, 15360", "10, 21600", "1000, 21600"})
    void pauseDoublesUpToSixHours(int failures, long seconds) {
        assertEquals(seconds, RetryDelay.seconds(failures));
    }

    @Test
    void issuersRetryAfterIsKept() {
        assertEquals(5000, RetryDelay.next(1, 1000, 5000));
        assertEquals(1060, RetryDelay.next(1, 1000, 1010));
    }

    @Test
    void ordersOfAnHourAreLimited() {
        List<Long> orders = List.of();
        for (long second = 10_000; second < 10_005; second++) {
            assertEquals(second, IssuanceLimit.next(orders, 5, second));
            orders = IssuanceLimit.with(orders, second);
        }
        assertEquals(13_600, IssuanceLimit.next(orders, 5, 10_005));
        assertEquals(13_600, IssuanceLimit.next(orders, 5, 13_600), "one order is an hour old");
        assertEquals(4, IssuanceLimit.with(orders, 13_601).size(), "two have left the list, one came");
    }

    @Test
    void ordersInTheFutureDoNotBlock() {
        assertEquals(10, IssuanceLimit.next(List.of(1000L, 1001L), 1, 10));
    }

    @Test
    void failedIssuersComeLast() {
        Issuer one = new Issuer("https://one/", null, null);
        Issuer two = new Issuer("https://two/", null, null);
        assertEquals(List.of(one, two), IssuerSequence.of(List.of(one, two), Map.of(), 10));
        assertEquals(List.of(two, one), IssuerSequence.of(List.of(one, two), Map.of("https://one/", 20L), 10));
        assertTrue(IssuerSequence.of(List.of(one, two), Map.of("https://one/", 20L), 20)
                .get(0)
                .equals(one));
    }
}
