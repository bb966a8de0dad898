package io.millrace.proxy.observe.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the choice of hosts with figures of their own, and that no figure ever decreases. */
class HostFiguresTest {
    private long nanos;
    private final HostFigures figures = new HostFigures(() -> nanos);
    private final LoopHosts one = figures.newLoop();
    private final LoopHosts two = figures.newLoop();

    private static void request(LoopHosts loop, String host, boolean isHit) {
        loop.count(host.getBytes(StandardCharsets.ISO_8859_1), isHit, !isHit, false, 10);
    }

    private static void requests(LoopHosts loop, String host, int count) {
        for (int i = 0; i < count; i++) {
            request(loop, host, true);
        }
    }

    private List<String> names() {
        return figures.report().hosts().stream().map(HostFigures.Row::host).toList();
    }

    private void window() {
        nanos += TimeUnit.MINUTES.toNanos(1);
    }

    @Test
    void sumsTheLoopsByHost() {
        figures.apply(10);
        request(one, "a.example", true);
        request(one, "a.example", false);
        request(two, "a.example", false);
        two.count("b.example".getBytes(StandardCharsets.ISO_8859_1), false, true, true, 5);
        HostFigures.Report report = figures.report();
        assertEquals(
                List.of(
                        new HostFigures.Row("a.example", 3, 1, 2, 0, 30),
                        new HostFigures.Row("b.example", 1, 0, 1, 1, 5)),
                report.hosts());
        assertEquals(new HostFigures.Row("other", 0, 0, 0, 0, 0), report.other());
    }

    @Test
    void nothingIsCountedUntilItIsOn() {
        request(one, "a.example", true);
        assertEquals(0, figures.report().hostsMax());
        figures.apply(1);
        assertEquals(List.of(), figures.report().hosts());
        assertEquals(0, figures.report().other().requests());
    }

    @Test
    void hostsBeyondTheLimitAndRequestsWithoutHostAreOthers() {
        figures.apply(2);
        requests(one, "a.example", 3);
        requests(one, "b.example", 2);
        requests(two, "c.example", 1);
        requests(two, "", 4);
        assertEquals(List.of("a.example", "b.example"), names());
        assertEquals(5, figures.report().other().requests());
    }

    /** A client that sends the name of the others cannot break the metrics with a second series of that name. */
    @Test
    void hostWithTheNameOfTheOthersHasNoPlace() {
        figures.apply(2);
        requests(one, "other", 3);
        assertEquals(List.of(), names());
        assertEquals(3, figures.report().other().requests());
    }

    @Test
    void busierHostTakesThePlaceOfAnIdleOne() {
        figures.apply(1);
        requests(one, "a.example", 5);
        assertEquals(List.of("a.example"), names());
        requests(one, "b.example", 50);
        assertEquals(List.of("a.example"), names());
        window();
        // The requests before stay with the others.
        requests(one, "b.example", 7);
        assertEquals(
                List.of(new HostFigures.Row("b.example", 7, 7, 0, 0, 70)),
                figures.report().hosts());
        assertEquals(55, figures.report().other().requests() + 5);
    }

    @Test
    void fewerPlacesKeepTheBusiestHosts() {
        figures.apply(3);
        requests(one, "a.example", 1);
        requests(one, "b.example", 3);
        requests(one, "c.example", 2);
        assertEquals(3, names().size());
        figures.apply(1);
        assertEquals(List.of("b.example"), names());
    }

    @Test
    void inventedHostsDoNotDisplaceABusyOne() {
        figures.apply(1);
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            request(one, "busy.example", true);
            request(one, "x" + random.nextInt() + ".example", false);
        }
        assertEquals(List.of("busy.example"), names());
        assertEquals(100_000, figures.report().hosts().get(0).requests());
        assertEquals(100_000, figures.report().other().requests());
    }

    @Test
    void noFigureDecreasesAndNoRequestIsLost() {
        figures.apply(5);
        Random random = new Random(2);
        Map<String, Long> last = new HashMap<>();
        long lastOther = 0;
        long sent = 0;
        for (int round = 0; round < 200; round++) {
            int shift = round / 20 * 7;
            for (int i = 0; i < 500; i++) {
                int host = shift + (int) Math.abs(random.nextGaussian() * 10);
                request(random.nextBoolean() ? one : two, "h" + host, random.nextBoolean());
                sent++;
            }
            if (random.nextBoolean()) {
                window();
            }
            HostFigures.Report report = figures.report();
            Map<String, Long> present = new HashMap<>();
            for (HostFigures.Row row : report.hosts()) {
                present.put(row.host(), row.requests());
                Long before = last.get(row.host());
                assertTrue(before == null || row.requests() >= before, row::toString);
            }
            last = present;
            assertTrue(report.hosts().size() <= 5);
            assertTrue(report.other().requests() >= lastOther);
            lastOther = report.other().requests();
        }
        long named = figures.report().hosts().stream()
                .mapToLong(HostFigures.Row::requests)
                .sum();
        assertTrue(named + lastOther <= sent, named + " + " + lastOther + " of " + sent);
    }
}
