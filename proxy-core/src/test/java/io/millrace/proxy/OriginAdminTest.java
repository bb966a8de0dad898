package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.data.OriginAdmin;
import io.millrace.proxy.admin.data.OriginMarks;
import io.millrace.proxy.admin.data.OriginMetrics;
import io.millrace.proxy.admin.origin.OriginControl.EmptyGroup;
import io.millrace.proxy.admin.origin.OriginControl.Host;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.origin.GroupTries;
import io.millrace.proxy.origin.HostHistory;
import io.millrace.proxy.origin.OriginGroups;
import io.millrace.proxy.origin.OriginHost;
import io.millrace.proxy.server.OriginRecords;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the admin API for groups of origins: the list, and marking hosts down and up. */
class OriginAdminTest {
    private static final long T = 1_767_225_600_000L;

    @TempDir
    Path directory;

    private final OriginGroups groups = new OriginGroups();
    private long now = T;
    private OriginMarks marks;
    private OriginAdmin admin;

    @BeforeEach
    void configure() {
        marks = new OriginMarks(directory.resolve("origins.down"));
        admin = new OriginAdmin(groups, () -> now, marks);
        apply(groups);
    }

    private static void apply(OriginGroups to) {
        to.apply(ProxyConfig.builder()
                .origins("shop", ConfigValues.empty(), List.of("http://10.0.0.1:8080", "http://10.0.0.2"))
                .origins("blog", ConfigValues.empty(), List.of("http://10.0.0.1:8080"))
                .build()
                .originGroups());
    }

    private static List<String> states(List<Host> hosts) {
        return hosts.stream()
                .map(host -> host.group() + " " + host.host().substring("http://10.0.0.".length()) + " " + host.state())
                .toList();
    }

    private static <T> T now(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    @ParameterizedTest
    @CsvSource({
        "shop,                      'shop 1:8080, shop 2'",
        "http://10.0.0.1:8080,      'shop 1:8080, blog 1:8080'",
        "10.0.0.1:8080,             'shop 1:8080, blog 1:8080'",
        "blog/10.0.0.1:8080,        'blog 1:8080'",
        "shop/http://10.0.0.1:8080, 'shop 1:8080'",
        "10.0.0.2,                  'shop 2'",
        "10.0.0.2:80,               'shop 2'"
    })
    void aNameIsThatOfAGroupOrOfAHostWhereverItIs(String origin, String meant) {
        List<String> expected = List.of(meant.split(", ")).stream()
                .map(host -> host + " put_down")
                .toList();
        assertEquals(expected, states(now(admin.down(origin, "", 0))));
        assertEquals(
                expected.stream().map(host -> host.replace("put_down", "up")).toList(), states(now(admin.up(origin))));
    }

    @Test
    void aGroupWithoutLiveNodesOfItsTierIsNamed() {
        String file = "listen: [':1']\nfleet: {name: c, servers: ['nats://h'], node: n}\nvia: {name: n}\n"
                + "origins: [{name: parents, policy: consistent_hash, hosts_from: {fleet_tier: parent}}]\n"
                + "remap: [{map: /, to: 'http://o/', origins: parents}]\n";
        ProxyConfig config = ConfigLoader.parse(file, "m.yaml", Map.of()).config();
        assertEquals(List.of(), admin.emptyGroups());
        groups.apply(config.originGroups());
        assertEquals(List.of(new EmptyGroup("parents", "consistent_hash", "parent")), admin.emptyGroups());
    }

    @Test
    void unknownOriginsAreRefusedWithTheKnownNames() {
        CompletionException refused = assertThrows(CompletionException.class, () -> now(admin.down("shpo", "", 0)));
        assertTrue(refused.getCause() instanceof AdminException);
        assertTrue(refused.getCause().getMessage().contains("shop/10.0.0.2:80"), refused.getMessage());
    }

    @Test
    void aHostMarkedDownIsShownWithReasonAndTimesAndIsUpAgainByItself() {
        Host host = now(admin.down("10.0.0.2", "deploy", 600)).get(0);
        assertEquals("deploy", host.reason());
        assertEquals(T / 1000, host.since());
        assertEquals(T / 1000 + 600, host.until());
        now = T + 600_000;
        assertEquals("up", admin.hosts().get(1).state());
    }

    @Test
    void theNextProxyHasTheHostsMarkedDown() throws IOException {
        now(admin.down("shop/10.0.0.1:8080", "disk\nfull, as ever", 0));
        now(admin.down("10.0.0.2", "deploy", 600));
        OriginGroups next = new OriginGroups();
        apply(next);
        marks.restore(next.all(), T);
        OriginAdmin after = new OriginAdmin(next, () -> now, null);
        assertEquals(List.of("shop 1:8080 put_down", "shop 2 put_down", "blog 1:8080 up"), states(after.hosts()));
        assertEquals("disk full, as ever", after.hosts().get(0).reason());
        assertEquals(T / 1000 + 600, after.hosts().get(1).until());
        now = T + 600_000;
        assertEquals("up", after.hosts().get(1).state());
        now(admin.up("shop"));
        assertEquals("", Files.readString(directory.resolve("origins.down")));
    }

    @Test
    void aFileThatCannotBeReadPutsNothingDown() throws IOException {
        Files.writeString(directory.resolve("origins.down"), "shop http://10.0.0.2 x y z\nshop\n\n");
        marks.restore(groups.all(), T);
        assertEquals("up", admin.hosts().get(1).state());
    }

    @Test
    void aMarkThatCannotBeSavedIsReportedAndInForce() {
        OriginAdmin nowhere = new OriginAdmin(groups, () -> now, new OriginMarks(directory.resolve("no/such/file")));
        CompletionException refused = assertThrows(CompletionException.class, () -> now(nowhere.down("shop", "", 0)));
        assertTrue(refused.getCause() instanceof AdminException, refused.toString());
        assertEquals("put_down", admin.hosts().get(0).state());
    }

    @Test
    void eachHostHasItsSeriesAsLongAsItIsConfigured() {
        try (MetricsRegistry metrics = new MetricsRegistry()) {
            OriginMetrics series = new OriginMetrics(metrics, () -> now);
            series.update(groups);
            String labels = "{application=\"millrace\",group=\"shop\",host=\"http://10.0.0.2\"} ";
            assertTrue(metrics.prometheusText().contains("millrace_origin_host_up" + labels + "1"));
            now(admin.down("10.0.0.2", "deploy", 600));
            assertTrue(metrics.prometheusText().contains("millrace_origin_host_up" + labels + "0"));
            groups.apply(List.of());
            series.update(groups);
            assertFalse(metrics.prometheusText().contains("10.0.0.2"));
        }
    }

    @Test
    void theNextProxyHasTheHostsMarkedDownOfARenamedGroup() {
        now(admin.down("shop/10.0.0.1:8080", "deploy", 0));
        OriginGroups next = new OriginGroups();
        next.apply(ProxyConfig.builder()
                .origins("store", ConfigValues.empty(), List.of("http://10.0.0.1:8080"))
                .origins("blog", ConfigValues.empty(), List.of("http://10.0.0.1:8080"))
                .build()
                .originGroups());
        marks.restore(next.all(), T);
        assertEquals(
                List.of("store 1:8080 put_down", "blog 1:8080 put_down"),
                states(new OriginAdmin(next, () -> now, null).hosts()));
    }

    @Test
    void hostsPutDownOfARenamedGroupStayInTheFile() throws IOException {
        now(admin.down("shop", "deploy", 0));
        groups.apply(ProxyConfig.builder()
                .origins("store", ConfigValues.empty(), List.of("http://10.0.0.1:8080", "http://10.0.0.2"))
                .build()
                .originGroups());
        now(admin.up("10.0.0.2"));
        assertTrue(Files.readString(directory.resolve("origins.down")).startsWith("store http://10.0.0.1:8080 "));
    }

    private static OriginHost first(OriginGroups of) {
        return of.all().iterator().next().hosts().get(0);
    }

    private static void serve(OriginGroups to, int version, long nowMillis) {
        GroupTries.Try next = to.newLoop().begin("shop", config -> 0, nowMillis).next(true, nowMillis);
        next.responded(200, version, nowMillis, 1);
        next.answered(200, nowMillis);
    }

    @Test
    void theNextProxyHasTheHistoryOfAHost() {
        Path file = directory.resolve("origins.seen");
        serve(groups, 0, T + 1000);
        groups.newLoop().begin("shop", config -> 0, T).next(true, T).failed(OriginFailure.Reason.RESET, T + 2000);
        new OriginRecords(file, groups).write();

        OriginGroups next = new OriginGroups();
        apply(next);
        new OriginRecords(file, next).restore();
        Host known = new OriginAdmin(next, () -> now, null).hosts().get(0);
        assertEquals("1.0", known.httpVersion());
        assertEquals(0, known.requests());
        assertEquals(2, known.earlierRequests());
        assertEquals(1, known.earlierFailures());
        assertEquals(T / 1000 + 1, known.lastSuccess());
        assertEquals(T / 1000 + 2, known.lastFailure());

        serve(next, 1, T + 5000);
        Host after = new OriginAdmin(next, () -> now, null).hosts().get(0);
        assertEquals("1.1", after.httpVersion());
        assertEquals(1, after.requests());
        assertEquals(2, after.earlierRequests());
        assertEquals(T / 1000 + 5, after.lastSuccess());
        assertEquals(3, first(next).history().requests());
        serve(next, 2, T + 6000);
        assertEquals(
                "2.0", new OriginAdmin(next, () -> now, null).hosts().get(0).httpVersion());
    }

    @Test
    void aStoppedProxyOverwritesNothing() throws IOException {
        Path file = directory.resolve("origins.seen");
        OriginRecords records = new OriginRecords(file, groups);
        records.end();
        Files.writeString(file, "of the successor");
        serve(groups, 1, T);
        records.write();
        assertEquals("of the successor", Files.readString(file));
    }

    @Test
    void anUnreadableRecordsFileHasNoValues() throws IOException {
        Path file = directory.resolve("origins.seen");
        Files.writeString(file, "shop http://10.0.0.1:8080 x 1 2 3 4\nshop\n\n");
        new OriginRecords(file, groups).restore();
        assertEquals(HostHistory.NONE, first(groups).history());
    }

    @Test
    void theFileHasTheNamesThatGroupsHaveAfterAReload() {
        now(admin.down("shop", "deploy", 0));
        Path file = directory.resolve("origins.down");
        groups.apply(ProxyConfig.builder()
                .origins("store", ConfigValues.empty(), List.of("http://10.0.0.1:8080"))
                .build()
                .originGroups());
        admin.groupsChanged();
        ProxyExtension.await("the new name", () -> {
            try {
                return Files.readString(file).startsWith("store http://10.0.0.1:8080 ");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
